/// A reply on its way to Linq; all of one chat's replies go through one partition, in order.
public struct ReplyRequest: Sendable, Equatable, Codable {
    public let chat: Chat
    /// The handle to address in a direct chat.
    public let to: String
    /// Linq's `idempotency_key`: the same on every try of this reply, never shared with another.
    ///
    /// At most 255 characters.
    public let idempotencyKey: String
    public let parts: [MessagePart]
    /// The message that this answers in its thread.
    public let replyTo: String?
    /// An iMessage effect.
    public let effect: Effect?
    /// When `ingress` took the webhook that caused this; absent if no webhook did.
    public let receivedAt: Timestamp?
    /// After this it is parked instead of sent.
    public let expiresAt: Timestamp
    /// Whether the chat is to be marked as read, best effort: the text that this answers was taken; absent otherwise.
    public let marksRead: Bool?

    public struct Effect: Sendable, Equatable, Codable {
        /// "screen" or "bubble".
        public let type: String
        public let name: String

        public init(type: String, name: String) {
            self.type = type
            self.name = name
        }
    }

    public init(
        chat: Chat, to: String, idempotencyKey: String, parts: [MessagePart], replyTo: String? = nil,
        effect: Effect? = nil, receivedAt: Timestamp?, expiresAt: Timestamp, marksRead: Bool? = nil
    ) {
        self.chat = chat
        self.to = to
        self.idempotencyKey = idempotencyKey
        self.parts = parts
        self.replyTo = replyTo
        self.effect = effect
        self.receivedAt = receivedAt
        self.expiresAt = expiresAt
        self.marksRead = marksRead
    }
}

extension ReplyRequest: WirePayload {
    public static let type = "isthmus.reply.requested.v1"

    public static func decode(type: String, from decoder: any Decoder) throws -> ReplyRequest {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try ReplyRequest(from: decoder)
    }
}

extension ReplyRequest.Effect: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("type", type)
            $0.field("name", name)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(type: try json.value("type"), name: try json.value("name"))
    }
}

extension ReplyRequest: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("chat", chat)
            $0.field("to", to)
            $0.field("idempotencyKey", idempotencyKey)
            $0.field("parts", parts)
            $0.field("replyTo", replyTo)
            $0.field("effect", effect)
            $0.field("receivedAt", receivedAt)
            $0.field("expiresAt", expiresAt)
            $0.field("marksRead", marksRead)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            chat: try json.value("chat"), to: try json.value("to"), idempotencyKey: try json.value("idempotencyKey"),
            parts: try json.value("parts"), replyTo: try json.optional("replyTo"), effect: try json.optional("effect"),
            receivedAt: try json.optional("receivedAt"), expiresAt: try json.value("expiresAt"),
            marksRead: try json.optional("marksRead"))
    }
}

extension ReplyRequest: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> ReplyRequest {
        guard type == Self.type else { throw JSONUnusual() }
        return try ReplyRequest(json: json)
    }
}
