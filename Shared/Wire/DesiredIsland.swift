/// What should be on a user's Islands now, whole: never a change against something before it.
public struct DesiredIsland: Sendable, Equatable, Codable {
    /// The partition key: the user's canonical handle.
    public let handle: String
    public let userID: String
    /// The bare name of the `ActivityAttributes` type.
    public let attributesType: String
    public let sessionID: String
    /// When the session began, and with it the life of its card.
    public let sessionStartedAt: Timestamp
    /// Which card of the session this is: 0, and one more at each renewal.
    public let generation: Int
    /// `aps.timestamp`, UNIX seconds: rises with every state of this user and kind.
    ///
    /// The newest wins.
    public let timestamp: Int64
    public let desired: Desired
    /// 10 for what the user just did, 5 for the rest.
    public let priority: Int
    /// When `ingress` took the webhook that caused this; absent if no webhook did.
    public let receivedAt: Timestamp?
    /// The only device that this is for: one that could not show the state before and can now; absent for all.
    public let deviceID: String?

    public enum Desired: Sendable, Equatable {
        case show(Card)
        case end(Ending)
    }

    /// A live card.
    public struct Card: Sendable, Equatable, Codable {
        /// The content state as JSON text, byte for byte as it goes to the phone.
        public let contentState: String
        /// UNIX seconds from which the card shows itself as stale.
        public let staleDate: Int64
        public let alert: Alert?
        public let relevanceScore: Double?

        public init(contentState: String, staleDate: Int64, alert: Alert?, relevanceScore: Double? = nil) {
            self.contentState = contentState
            self.staleDate = staleDate
            self.alert = alert
            self.relevanceScore = relevanceScore
        }
    }

    /// A card that is to go.
    public struct Ending: Sendable, Equatable, Codable {
        /// The last content state, as JSON text.
        public let contentState: String?
        /// UNIX seconds at which the ended card leaves the Lock Screen.
        public let dismissalDate: Int64?

        public init(contentState: String?, dismissalDate: Int64?) {
            self.contentState = contentState
            self.dismissalDate = dismissalDate
        }
    }

    /// What lights the screen up, and what a watch shows.
    public struct Alert: Sendable, Equatable, Codable {
        public let title: String
        public let body: String
        public let sound: String?

        public init(title: String, body: String, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    public init(
        handle: String, userID: String, attributesType: String, sessionID: String, sessionStartedAt: Timestamp,
        generation: Int = 0, timestamp: Int64, desired: Desired, priority: Int, receivedAt: Timestamp?,
        deviceID: String? = nil
    ) {
        self.handle = handle
        self.userID = userID
        self.attributesType = attributesType
        self.sessionID = sessionID
        self.sessionStartedAt = sessionStartedAt
        self.generation = generation
        self.timestamp = timestamp
        self.desired = desired
        self.priority = priority
        self.receivedAt = receivedAt
        self.deviceID = deviceID
    }
}

extension DesiredIsland.Desired: Codable {
    private enum CodingKeys: String, CodingKey { case show, end }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let card = try container.decodeIfPresent(DesiredIsland.Card.self, forKey: .show) {
            self = .show(card)
        } else {
            self = .end(try container.decode(DesiredIsland.Ending.self, forKey: .end))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .show(let card): try container.encode(card, forKey: .show)
        case .end(let ending): try container.encode(ending, forKey: .end)
        }
    }
}

extension DesiredIsland: WirePayload {
    public static let type = "isthmus.island.desired.v1"

    public static func decode(type: String, from decoder: any Decoder) throws -> DesiredIsland {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try DesiredIsland(from: decoder)
    }
}
