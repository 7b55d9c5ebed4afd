/// Something to show in a chat while no message goes there: best effort, and worth nothing when it is late.
public struct ChatHint: Sendable, Equatable, Codable {
    public let chat: Chat
    public let kind: Kind
    /// After this it is dropped.
    public let expiresAt: Timestamp

    /// What to show.
    ///
    /// A kind that this build does not know is kept by its name and shows nothing.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// What the user has written was read.
        public static let read = Kind(rawValue: "read")
        /// An answer is being made; a message that goes out ends it.
        public static let typing = Kind(rawValue: "typing")
        /// There will be no answer after all.
        public static let typingStopped = Kind(rawValue: "typingStopped")
    }

    public init(chat: Chat, kind: Kind, expiresAt: Timestamp) {
        self.chat = chat
        self.kind = kind
        self.expiresAt = expiresAt
    }

    public static let type = "isthmus.chat.hint.v1"
}

/// What goes through the stage of replies: what must reach Linq, and what may.
public enum ChatMessage: Sendable, Equatable, WirePayload {
    case reply(ReplyRequest)
    case hint(ChatHint)

    /// The partition key's chat.
    public var chat: Chat {
        switch self {
        case .reply(let reply): reply.chat
        case .hint(let hint): hint.chat
        }
    }

    public static func decode(type: String, from decoder: any Decoder) throws -> ChatMessage {
        switch type {
        case ReplyRequest.type: .reply(try ReplyRequest(from: decoder))
        case ChatHint.type: .hint(try ChatHint(from: decoder))
        default: throw UnsupportedWireType(type: type)
        }
    }
}

extension ChatHint: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> ChatHint {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try ChatHint(from: decoder)
    }
}

extension ChatHint.Kind: JSONCodable {}

extension ChatHint: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("chat", chat)
            $0.field("kind", kind)
            $0.field("expiresAt", expiresAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(chat: try json.value("chat"), kind: try json.value("kind"), expiresAt: try json.value("expiresAt"))
    }
}

extension ChatHint: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> ChatHint {
        guard type == Self.type else { throw JSONUnusual() }
        return try ChatHint(json: json)
    }
}

extension ChatMessage: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> ChatMessage {
        switch type {
        case ReplyRequest.type: .reply(try ReplyRequest(json: json))
        case ChatHint.type: .hint(try ChatHint(json: json))
        default: throw JSONUnusual()
        }
    }
}
