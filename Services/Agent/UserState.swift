import Shared

/// All that the agent keeps of one user: one sealed row of the database.
struct UserState: Codable, Sendable, Equatable {
    /// The canonical handle: a session's end must be able to find the user's partition by itself.
    var handle: String
    /// Who the registry said it is; `nil` until it knows.
    var userID: String?
    /// The agent's own model of the user, JSON text; `nil` before the first event.
    var model: String?
    var session: Session?
    /// The last state that was shown or was to be shown, by kind: the Island as it should be now.
    var island: Island?
    /// Where the user wrote last, and from which handle: replies that no text has asked for go there.
    var lastChat: Chat?
    var lastSender: String?
    /// The last `aps.timestamp` that was given out, by `attributesType`: it never falls.
    var lastTimestamps: [String: Int64] = [:]

    /// A conversation without a long silence in it.
    struct Session: Codable, Sendable, Equatable {
        let id: String
        let startedAt: Timestamp
        var lastActivityAt: Timestamp
        /// Which card of the session is up: one more at each renewal, and after each end that a new state follows.
        var cardGeneration: Int
        /// When the card that is up was started.
        var cardStartedAt: Timestamp
        var isOpen: Bool
        /// Whether the user writes by iMessage: who does not has Messages, but maybe no Island above it.
        var isByIMessage: Bool
    }

    /// The Island as it should be.
    struct Island: Codable, Sendable, Equatable {
        var attributesType: String
        /// JSON text, as it goes to the phone.
        var contentState: String
        /// `aps.timestamp` of it, UNIX seconds.
        var timestamp: Int64
        /// UNIX seconds.
        var staleDate: Int64
        /// Set once the card is to go: when it leaves the Lock Screen, UNIX seconds.
        var dismissalDate: Int64?
    }

    init(handle: String) { self.handle = handle }
}

extension UserState: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("handle", handle)
            $0.field("userID", userID)
            $0.field("model", model)
            $0.field("session", session)
            $0.field("island", island)
            $0.field("lastChat", lastChat)
            $0.field("lastSender", lastSender)
            $0.field("lastTimestamps", lastTimestamps)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(handle: try json.value("handle"))
        userID = try json.optional("userID")
        model = try json.optional("model")
        session = try json.optional("session")
        island = try json.optional("island")
        lastChat = try json.optional("lastChat")
        lastSender = try json.optional("lastSender")
        lastTimestamps = try json.value("lastTimestamps")
    }
}

extension UserState.Session: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("id", id)
            $0.field("startedAt", startedAt)
            $0.field("lastActivityAt", lastActivityAt)
            $0.field("cardGeneration", cardGeneration)
            $0.field("cardStartedAt", cardStartedAt)
            $0.field("isOpen", isOpen)
            $0.field("isByIMessage", isByIMessage)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            id: try json.value("id"), startedAt: try json.value("startedAt"),
            lastActivityAt: try json.value("lastActivityAt"), cardGeneration: try json.value("cardGeneration"),
            cardStartedAt: try json.value("cardStartedAt"), isOpen: try json.value("isOpen"),
            isByIMessage: try json.value("isByIMessage"))
    }
}

extension UserState.Island: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("attributesType", attributesType)
            $0.field("contentState", contentState)
            $0.field("timestamp", timestamp)
            $0.field("staleDate", staleDate)
            $0.field("dismissalDate", dismissalDate)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            attributesType: try json.value("attributesType"), contentState: try json.value("contentState"),
            timestamp: try json.value("timestamp"), staleDate: try json.value("staleDate"),
            dismissalDate: try json.optional("dismissalDate"))
    }
}
