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

extension DesiredIsland.Alert: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("title", title)
            $0.field("body", body)
            $0.field("sound", sound)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(title: try json.value("title"), body: try json.value("body"), sound: try json.optional("sound"))
    }
}

extension DesiredIsland.Card: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("contentState", contentState)
            $0.field("staleDate", staleDate)
            $0.field("alert", alert)
            $0.field("relevanceScore", relevanceScore)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            contentState: try json.value("contentState"), staleDate: try json.value("staleDate"),
            alert: try json.optional("alert"), relevanceScore: try json.optional("relevanceScore"))
    }
}

extension DesiredIsland.Ending: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("contentState", contentState)
            $0.field("dismissalDate", dismissalDate)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(contentState: try json.optional("contentState"), dismissalDate: try json.optional("dismissalDate"))
    }
}

extension DesiredIsland.Desired: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            switch self {
            case .show(let card): $0.field("show", card)
            case .end(let ending): $0.field("end", ending)
            }
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        if let card: DesiredIsland.Card = try json.optional("show") {
            self = .show(card)
        } else {
            self = .end(try json.value("end"))
        }
    }
}

extension DesiredIsland: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("handle", handle)
            $0.field("userID", userID)
            $0.field("attributesType", attributesType)
            $0.field("sessionID", sessionID)
            $0.field("sessionStartedAt", sessionStartedAt)
            $0.field("generation", generation)
            $0.field("timestamp", timestamp)
            $0.field("desired", desired)
            $0.field("priority", priority)
            $0.field("receivedAt", receivedAt)
            $0.field("deviceID", deviceID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            handle: try json.value("handle"), userID: try json.value("userID"),
            attributesType: try json.value("attributesType"), sessionID: try json.value("sessionID"),
            sessionStartedAt: try json.value("sessionStartedAt"), generation: try json.value("generation"),
            timestamp: try json.value("timestamp"), desired: try json.value("desired"),
            priority: try json.value("priority"), receivedAt: try json.optional("receivedAt"),
            deviceID: try json.optional("deviceID"))
    }
}

extension DesiredIsland: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> DesiredIsland {
        guard type == Self.type else { throw JSONUnusual() }
        return try DesiredIsland(json: json)
    }
}
