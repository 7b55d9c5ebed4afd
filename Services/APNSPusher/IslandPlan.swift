import Shared

/// What to push so that a user's devices show what they should: a pure comparison of the desired and the known.
struct IslandPlan: Equatable {
    enum Step: Equatable {
        /// Ask the registry for leave, then start; the older cards end once the start was accepted.
        case start(RegistryRecord.Device, RegistryRecord.StartToken, thenEnd: [RegistryRecord.Activity])
        case update(RegistryRecord.Device, RegistryRecord.Activity)
        /// The app's own card becomes the session's: the registry notes it, then it is updated.
        case adopt(RegistryRecord.Device, RegistryRecord.Activity)
        case end(RegistryRecord.Device, RegistryRecord.Activity)
        /// Nothing can or should be pushed to the device now.
        case leave(Reason)
    }

    enum Reason: String, Equatable {
        /// A start is out and its token not in: the registry will tell the agent, and the state comes again.
        case awaitingToken = "awaiting_token"
        /// The user swiped the session's card away.
        case dismissed
        /// No push-to-start token of this kind, and no card.
        case noToken = "no_token"
        /// There is no card to end.
        case nothingToEnd = "nothing_to_end"
    }

    let steps: [Step]

    init(_ desired: DesiredIsland, _ record: RegistryRecord) {
        steps = record.devices.flatMap { device in
            switch desired.desired {
            case .show: Self.show(desired, device)
            case .end: Self.end(desired, device)
            }
        }
    }

    private static func show(_ desired: DesiredIsland, _ device: RegistryRecord.Device) -> [Step] {
        let cards = device.activities.filter { $0.attributesType == desired.attributesType }
        let own = cards.filter { $0.sessionID == desired.sessionID }
        guard !own.contains(where: { $0.state == .dismissed }) else { return [.leave(.dismissed)] }
        let current = own.filter { $0.generation == desired.generation }
        let older = cards.filter { card in
            card.state == .live && card.token != nil && card.sessionID != nil
                && (card.sessionID != desired.sessionID || card.generation < desired.generation)
        }
        if let live = newest(current.filter { $0.state == .live && $0.token != nil }) {
            return [.update(device, live)] + older.map { .end(device, $0) }
        }
        // Until the new card can be reached, the old one is what the user sees.
        if current.contains(where: { $0.state == .starting }) {
            return [.leave(.awaitingToken)]
        }
        if let adopted = newest(cards.filter { $0.state == .live && $0.token != nil && $0.sessionID == nil }) {
            return [.adopt(device, adopted)] + older.map { .end(device, $0) }
        }
        let startTokens = device.startTokens.filter { $0.attributesType == desired.attributesType }
        guard let startToken = startTokens.max(by: { $0.registeredAt < $1.registeredAt }),
            // A card of this session that has ended before its time is not started again.
            current.isEmpty
        else {
            let reachable = newest(older.filter { $0.sessionID == desired.sessionID })
            return [reachable.map { .update(device, $0) } ?? .leave(.noToken)]
        }
        return [.start(device, startToken, thenEnd: older)]
    }

    private static func end(_ desired: DesiredIsland, _ device: RegistryRecord.Device) -> [Step] {
        let cards = device.activities.filter { card in
            card.attributesType == desired.attributesType && card.state == .live && card.token != nil
        }
        guard cards.isEmpty else { return cards.map { .end(device, $0) } }
        let isAwaited = device.activities.contains { card in
            card.attributesType == desired.attributesType && card.state == .starting
        }
        return [.leave(isAwaited ? .awaitingToken : .nothingToEnd)]
    }

    private static func newest(_ cards: [RegistryRecord.Activity]) -> RegistryRecord.Activity? {
        cards.max { $0.registeredAt < $1.registeredAt }
    }
}
