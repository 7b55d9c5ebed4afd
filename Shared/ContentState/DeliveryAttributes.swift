#if canImport(ActivityKit) && !os(macOS)
    public import ActivityKit

    extension DeliveryAttributes: ActivityAttributes {}
#endif

/// A delivery's card: where it is and when it will be there.
public struct DeliveryAttributes: IslandAttributes {
    public struct ContentState: Codable, Hashable, Sendable {
        public var phase: Phase
        /// When it should arrive, in UNIX seconds: a `Date` would be read as seconds since 2001.
        public var etaEpoch: Int
        /// How much of the way is done, 0 to 1.
        public var progress: Double
        public var merchant: String
        /// Who brings it, once that is known.
        public var courier: String?

        public init(phase: Phase, etaEpoch: Int, progress: Double, merchant: String, courier: String? = nil) {
            self.phase = phase
            self.etaEpoch = etaEpoch
            self.progress = progress
            self.merchant = merchant
            self.courier = courier
        }
    }

    public enum Phase: String, OpenCase {
        case preparing, enRoute, nearby, delivered, unknown
        public static let fallback = Phase.unknown
    }

    public var userID: String
    public var sessionID: String?

    public init(userID: String, sessionID: String? = nil) {
        self.userID = userID
        self.sessionID = sessionID
    }

    public static let example = ContentState(
        phase: .enRoute, etaEpoch: 1_790_002_100, progress: 0.6, merchant: "North Kitchen", courier: "Mina")
    public static let startAlert = DesiredIsland.Alert(title: "Your delivery", body: "Follow it on screen.")
    public static let fieldNotes = [
        "etaEpoch": "when it should arrive, in whole UNIX seconds",
        "progress": "how much of the way is done, 0 to 1",
        "courier": "who brings it, once that is known",
    ]
}
