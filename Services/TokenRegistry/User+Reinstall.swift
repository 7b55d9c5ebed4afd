import Shared

/// An app that was deleted and installed again, or a phone that was set up anew, in mid-session: its cards are gone.
///
/// A card that is missing when the app is launched may as well have been swiped away while nobody saw it, and then it has
/// to stay away. What tells them apart is that iOS makes another push-to-start token for a new installation. So a card
/// goes for good, and another one may be started in its session, if
///
/// * the device registered another token of the card's kind after the app had last vouched for the card, by more than
///   `Card.vouchedFor`, since iOS was seen to make a new token right after each start as well, and
/// * the app, launched, does not find the card among those that run.
///
/// A swipe that nobody saw and a token that iOS changed by itself in the same gap look the same: then the next text brings
/// one card back. An app whose installations have different device ids needs none of this: each is a device of its own.
extension User {
    /// The device has another push-to-start token of this kind than before.
    mutating func doubtCards(_ attributesType: String, on deviceID: String, at now: Timestamp) {
        for card in cards where card.deviceID == deviceID && card.attributesType == attributesType {
            guard let index = cards.firstIndex(where: { $0.id == card.id }) else { continue }
            if card.ending == .notRunning {
                // The launch was reported before the token that came of the same installation.
                if card.isOlder(than: Card.vouchedFor, since: card.changedAt, at: now) { continue }
                forget(index)
            } else if card.isOpen || card.canComeBack {
                cards[index].isDoubted =
                    card.isDoubted || card.isOlder(than: Card.vouchedFor, since: card.registeredAt, at: now)
            }
        }
    }

    /// The app, launched, has told what runs: of the doubted cards, those that do are the phone's still, and those that do
    /// not are gone with the installation that they were on.
    mutating func settleDoubts(running: Set<String>, on deviceID: String) {
        let reported = Set(cards.filter { $0.deviceID == deviceID }.compactMap(\.activityID))
        for card in cards where card.deviceID == deviceID && card.isDoubted && (card.isOpen || card.canComeBack) {
            guard let index = cards.firstIndex(where: { $0.id == card.id }) else { continue }
            if let activityID = card.activityID {
                if running.contains(activityID) { cards[index].isDoubted = false } else { forget(index) }
            } else if running.isSubset(of: reported) {
                forget(index)
            }
        }
    }

    /// The card is gone and was not swiped away: its session may have another one.
    private mutating func forget(_ index: Int) {
        let card = cards.remove(at: index)
        guard card.sessionID != nil else { return }
        // Those that the app or we ended in its favour were not swiped away either, and are no reason against another one.
        cards.removeAll { other in
            other.deviceID == card.deviceID && other.sessionID == card.sessionID
                && other.attributesType == card.attributesType && other.state == .ended && card.isNewer(than: other)
        }
        reachableAgain.append(
            IslandReachable(
                userID: id, deviceID: card.deviceID, attributesType: card.attributesType, sessionID: nil))
    }
}

extension Card {
    fileprivate func isOlder(than limit: Int64, since moment: Timestamp, at now: Timestamp) -> Bool {
        now.millisecondsSince1970 - moment.millisecondsSince1970 > limit
    }
}
