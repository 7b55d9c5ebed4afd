import Shared

extension User {
    /// Enough for anybody's phones and their reinstallations.
    static let mostDevices = 20
    static let mostKindsOnADevice = 16
    static let mostCardsOnADevice = 50
    static let mostHandles = 20
    static let mostFormerHandles = 100

    /// How long an ended card is remembered: longer than it can stay on a Lock Screen (four hours after its eight).
    static let endedIsKept: Int64 = 48 * 3_600_000
    /// How long a swipe is remembered, for a session that is kept alive by renewals.
    static let dismissalIsKept: Int64 = 7 * 24 * 3_600_000

    /// Forgets cards that have no meaning any more.
    mutating func forgetOldCards(at now: Timestamp) {
        cards.removeAll { card in
            let age = now.millisecondsSince1970 - card.changedAt.millisecondsSince1970
            return age > (card.state == .dismissed ? Self.dismissalIsKept : Self.endedIsKept)
        }
    }

    /// Keeps the user within the limits; what goes is what was registered longest ago, never what just came.
    mutating func makeRoom(beside deviceID: String) {
        let devices = Dictionary(
            (startTokens.map { ($0.deviceID, $0.registeredAt) } + cards.map { ($0.deviceID, $0.registeredAt) }),
            uniquingKeysWith: max)
        let oldest = devices.filter { $0.key != deviceID }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        let evicted = Set(oldest.prefix(max(0, devices.count - Self.mostDevices)).map(\.key))
        startTokens.removeAll { evicted.contains($0.deviceID) }
        cards.removeAll { evicted.contains($0.deviceID) }

        let kinds = startTokens.filter { $0.deviceID == deviceID }.sorted { $0.registeredAt < $1.registeredAt }
        let surplusKinds = kinds.prefix(max(0, kinds.count - Self.mostKindsOnADevice)).map(\.attributesType)
        startTokens.removeAll { $0.deviceID == deviceID && surplusKinds.contains($0.attributesType) }

        let onDevice = cards.filter { $0.deviceID == deviceID }
        let closedFirst = onDevice.filter { !$0.isOpen } + onDevice.filter(\.isOpen)
        let surplusCards = Set(closedFirst.prefix(max(0, onDevice.count - Self.mostCardsOnADevice)).map(\.id))
        cards.removeAll { surplusCards.contains($0.id) }
    }
}
