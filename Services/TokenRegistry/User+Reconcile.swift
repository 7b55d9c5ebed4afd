import Shared

extension User {
    /// Sets what is known against what runs on the device now, as the app sees it when it is launched.
    ///
    /// - Returns: Those of `running` that the app should end: cards of sessions that were swiped away or are over, and
    ///   all but the newest of a session. A card the registry has not heard of is left alone: the app will report it.
    mutating func reconcile(running: [String], on deviceID: String, at now: Timestamp) -> [String] {
        let runs = Set(running)
        var surplus: Set<String> = []
        for index in cards.indices where cards[index].deviceID == deviceID {
            guard let activityID = cards[index].activityID else { continue }
            if !runs.contains(activityID) {
                if cards[index].state == .live { cards[index].end(.notRunning, at: now) }
            } else if cards[index].state == .ended && cards[index].ending == .notRunning && cards[index].token != nil {
                cards[index].goLive(at: now)
            } else if !cards[index].isOpen && !cards[index].canComeBack {
                surplus.insert(activityID)
            }
        }
        for index in cards.indices where cards[index].deviceID == deviceID && cards[index].state == .live {
            guard let activityID = cards[index].activityID, isOutdone(cards[index]) else { continue }
            cards[index].end(.duplicate, at: now)
            surplus.insert(activityID)
        }
        settleDoubts(running: runs, on: deviceID)
        // The phone may have been out of reach, and APNs keeps one push for it at the most.
        for card in cards where card.deviceID == deviceID && card.state == .live {
            guard let activityID = card.activityID, runs.contains(activityID) else { continue }
            reachableAgain.append(
                IslandReachable(
                    userID: id, deviceID: deviceID, attributesType: card.attributesType, sessionID: card.sessionID))
        }
        return running.filter(surplus.contains)
    }

    /// Whether the card's session has a newer one, or is over, or was swiped away.
    private func isOutdone(_ card: Card) -> Bool {
        guard let sessionID = card.sessionID else { return false }
        return cards.contains { other in
            guard other.id != card.id, other.deviceID == card.deviceID, other.sessionID == sessionID,
                other.attributesType == card.attributesType
            else { return false }
            if other.state == .dismissed { return true }
            if other.state == .live { return other.isNewer(than: card) }
            return other.state == .ended && other.ending == .push && other.generation >= card.generation
        }
    }
}
