import Shared

/// What to push so that a user's devices show what they should: a pure comparison of the desired and the known.
struct IslandPlan: Equatable {
    enum Step: Equatable {
        /// Ask the registry for leave, then start; the older cards end once the start was accepted.
        ///
        /// Without leave, another card goes on in its place, if there is one.
        case start(
            RegistryRecord.Device, RegistryRecord.StartToken, thenEnd: [RegistryRecord.Activity],
            orUpdate: RegistryRecord.Activity?)
        case update(RegistryRecord.Device, RegistryRecord.Activity)
        /// The app's own card becomes the session's: the registry notes it, then it is updated.
        ///
        /// The token is for the start that the registry may want instead.
        case adopt(RegistryRecord.Device, RegistryRecord.Activity, RegistryRecord.StartToken?)
        case end(RegistryRecord.Device, RegistryRecord.Activity)
        /// Nothing can or should be pushed to the device now.
        case leave(Reason)
    }

    enum Reason: String, Equatable {
        /// A start is out and its token not in: the registry will tell the agent, and the state comes again.
        case awaitingToken = "awaiting_token"
        /// The user swiped the session's card away.
        case dismissed
        /// A later session has a card there already: this state is an old one that came again.
        case outdated
        /// No push-to-start token of this kind, and no card.
        case noToken = "no_token"
        /// There is no card to end.
        case nothingToEnd = "nothing_to_end"
    }

    let steps: [Step]

    init(_ desired: DesiredIsland, _ record: RegistryRecord) {
        let devices = record.devices.filter { desired.deviceID == nil || $0.deviceID == desired.deviceID }
        steps = devices.flatMap { device in
            switch desired.desired {
            case .show: Self.show(desired, device)
            case .end: Self.end(desired, device)
            }
        }
    }

    /// Whether there is nothing to be done for any device.
    var isIdle: Bool {
        steps.allSatisfy { if case .leave = $0 { true } else { false } }
    }

    private static func show(_ desired: DesiredIsland, _ device: RegistryRecord.Device) -> [Step] {
        let cards = device.activities.filter { $0.attributesType == desired.attributesType }
        guard !cards.contains(where: { $0.isOfSession(after: desired.sessionID) }) else { return [.leave(.outdated)] }
        let own = cards.filter { $0.sessionID == desired.sessionID }
        let current = own.filter { $0.generation == desired.generation }
        let reachable = cards.filter { $0.state == .live && $0.token != nil }
        let renewed = reachable.filter { $0.sessionID == desired.sessionID && $0.generation < desired.generation }
        let past = reachable.filter { $0.sessionID != nil && $0.sessionID != desired.sessionID }
        let unowned = reachable.filter { $0.sessionID == nil }
        let others = renewed + past + unowned
        func show(_ card: RegistryRecord.Activity) -> [Step] {
            [.update(device, card)] + others.filter { $0 != card }.map { .end(device, $0) }
        }
        /// Where the right card cannot be reached, another one stands in for it.
        func standIn(_ card: RegistryRecord.Activity?, or reason: Reason) -> [Step] {
            card.map(show) ?? [.leave(reason)] + past.map { .end(device, $0) }
        }

        // What was swiped away stays away; an earlier session's card has to go all the same.
        guard !own.contains(where: { $0.state == .dismissed }) else { return standIn(nil, or: .dismissed) }
        if let live = newest(current.filter(reachable.contains)) { return show(live) }
        let startToken = device.startTokens.filter { $0.attributesType == desired.attributesType }
            .max { $0.registeredAt < $1.registeredAt }
        if let pending = current.first(where: { $0.state == .starting }) {
            let other = newest(renewed.isEmpty ? unowned : renewed)
            // The start may have been lost. Whether the user has waited long enough for it is the registry's to say.
            if pending.isStartUnknown == true, desired.isFromUser, unowned.isEmpty, let startToken {
                return [.start(device, startToken, thenEnd: renewed, orUpdate: other)] + past.map { .end(device, $0) }
            }
            return standIn(other, or: .awaitingToken)
        }
        if renewed.isEmpty, let adopted = newest(unowned) {
            return [.adopt(device, adopted, startToken)]
                + others.filter { $0 != adopted }.map { .end(device, $0) }
        }
        // A card that has ended before its time may have been swiped away: it is not started again.
        guard current.isEmpty else { return standIn(newest(renewed), or: .noToken) }
        guard let startToken else { return standIn(newest(renewed.isEmpty ? past : renewed), or: .noToken) }
        return [.start(device, startToken, thenEnd: others, orUpdate: nil)]
    }

    private static func end(_ desired: DesiredIsland, _ device: RegistryRecord.Device) -> [Step] {
        let cards = device.activities.filter { card in
            guard card.attributesType == desired.attributesType, !card.isOfSession(after: desired.sessionID) else {
                return false
            }
            // Cards that came after the end are none of its own, should it come again.
            return card.sessionID == nil
                ? card.startedAt.secondsSince1970 <= desired.timestamp
                : card.sessionID != desired.sessionID || card.generation <= desired.generation
        }
        let reachable = cards.filter { $0.state == .live && $0.token != nil }
        guard reachable.isEmpty else { return reachable.map { .end(device, $0) } }
        return [.leave(cards.contains { $0.state == .starting } ? .awaitingToken : .nothingToEnd)]
    }

    private static func newest(_ cards: [RegistryRecord.Activity]) -> RegistryRecord.Activity? {
        cards.max { $0.registeredAt < $1.registeredAt }
    }
}

extension DesiredIsland {
    /// Whether a text of the user's made this state, or whatever else came in from outside, and not the passing of time or
    /// a token.
    var isFromUser: Bool { receivedAt != nil }
}

extension RegistryRecord.Activity {
    /// Whether the card's session began after `session`: of two sessions' ids, the later one's is the larger.
    fileprivate func isOfSession(after session: String) -> Bool { sessionID.map { $0 > session } ?? false }
}
