/// The conversation that a text belongs to.
public struct Chat: Sendable, Hashable, Codable {
    /// Linq's chat id; stable for the life of the chat.
    public let id: String
    public let isGroup: Bool

    public init(id: String, isGroup: Bool) {
        self.id = id
        self.isGroup = isGroup
    }
}

/// How a text travels.
///
/// A service that this build does not know is kept by its name.
public struct MessageService: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let iMessage = MessageService(rawValue: "iMessage")
    public static let sms = MessageService(rawValue: "SMS")
    public static let rcs = MessageService(rawValue: "RCS")
}

/// A piece of a message.
///
/// A type that this build does not know keeps its name and nothing else.
public struct MessagePart: Sendable, Equatable, Codable {
    /// "text", "media", "link", or what Linq sends next.
    public let type: String
    /// The text, or the link's address.
    public let value: String?
    /// Where a medium can be fetched; it expires.
    public let url: String?
    public let mimeType: String?
    public let filename: String?
    /// Bytes.
    public let size: Int?

    public init(
        type: String, value: String? = nil, url: String? = nil, mimeType: String? = nil, filename: String? = nil,
        size: Int? = nil
    ) {
        self.type = type
        self.value = value
        self.url = url
        self.mimeType = mimeType
        self.filename = filename
        self.size = size
    }
}

/// A message that the user sent.
public struct InboundMessage: Sendable, Equatable, Codable {
    /// Linq's id of the message: the same text seen through two subscriptions has one.
    public let messageID: String
    public let chat: Chat
    /// The handle that sent it: differs from the partition's when the user wrote from another of theirs.
    public let sender: String
    public let service: MessageService
    public let parts: [MessagePart]
    /// In a group: whether the line itself was mentioned.
    public let mentionsLine: Bool
    /// The message that this one answers.
    public let replyTo: String?
    /// Linq recovered it late: it belongs to the history and gets no reply.
    public let isReconciled: Bool
    public let sentAt: Timestamp?
    /// When `ingress` took the webhook: where every latency starts.
    public let receivedAt: Timestamp

    public init(
        messageID: String, chat: Chat, sender: String, service: MessageService, parts: [MessagePart],
        mentionsLine: Bool = false, replyTo: String? = nil, isReconciled: Bool = false, sentAt: Timestamp? = nil,
        receivedAt: Timestamp
    ) {
        self.messageID = messageID
        self.chat = chat
        self.sender = sender
        self.service = service
        self.parts = parts
        self.mentionsLine = mentionsLine
        self.replyTo = replyTo
        self.isReconciled = isReconciled
        self.sentAt = sentAt
        self.receivedAt = receivedAt
    }

    /// All the text parts, one a line.
    public var text: String { parts.filter { $0.type == "text" }.compactMap(\.value).joined(separator: "\n") }
}

/// A reaction to a message, added or taken back.
public struct InboundReaction: Sendable, Equatable, Codable {
    public let chat: Chat
    public let sender: String
    public let service: MessageService?
    /// The message reacted to.
    public let messageID: String
    /// "love", "like", …, "custom", "sticker".
    public let reaction: String
    public let emoji: String?
    public let isAdded: Bool
    public let receivedAt: Timestamp

    public init(
        chat: Chat, sender: String, service: MessageService?, messageID: String, reaction: String, emoji: String?,
        isAdded: Bool, receivedAt: Timestamp
    ) {
        self.chat = chat
        self.sender = sender
        self.service = service
        self.messageID = messageID
        self.reaction = reaction
        self.emoji = emoji
        self.isAdded = isAdded
        self.receivedAt = receivedAt
    }
}

/// The new wording of a message that was sent before.
public struct InboundEdit: Sendable, Equatable, Codable {
    public let messageID: String
    public let chat: Chat
    public let sender: String
    public let partIndex: Int
    public let text: String
    public let receivedAt: Timestamp

    public init(
        messageID: String, chat: Chat, sender: String, partIndex: Int, text: String, receivedAt: Timestamp
    ) {
        self.messageID = messageID
        self.chat = chat
        self.sender = sender
        self.partIndex = partIndex
        self.text = text
        self.receivedAt = receivedAt
    }
}

/// An event of the customer's own: a workout was synchronised, an order left the kitchen.
public struct CustomEvent: Sendable, Equatable, Codable {
    /// The customer's own name for what happened.
    public let name: String
    /// JSON text, passed on as it came.
    public let payload: String
    public let receivedAt: Timestamp

    public init(name: String, payload: String, receivedAt: Timestamp) {
        self.name = name
        self.payload = payload
        self.receivedAt = receivedAt
    }
}

/// A moment that a session was waiting for.
public struct SessionDue: Sendable, Equatable, Codable {
    public let sessionID: String
    /// The moment; if the session has moved on since, the event is void.
    public let dueAt: Timestamp

    public init(sessionID: String, dueAt: Timestamp) {
        self.sessionID = sessionID
        self.dueAt = dueAt
    }
}

/// A token came in: whoever has something to show may show it now.
public struct IslandReachable: Sendable, Equatable, Codable {
    public let userID: String
    public let deviceID: String
    public let attributesType: String
    /// The session of the card that the token belongs to; absent for a start token and for cards of the app's own.
    public let sessionID: String?

    public init(userID: String, deviceID: String, attributesType: String, sessionID: String?) {
        self.userID = userID
        self.deviceID = deviceID
        self.attributesType = attributesType
        self.sessionID = sessionID
    }
}

/// A handle is somebody else's now, or has become known, or its user's state is kept elsewhere from now on.
public struct IdentityChanged: Sendable, Equatable, Codable {
    public let userID: String?
    /// The handle whose partition keeps the user's state.
    public let canonicalHandle: String
    /// The user is to be forgotten, with all that is kept of them; absent otherwise.
    public let isErased: Bool?
    /// Who is to be forgotten: it may be a former owner of the handle.
    public let erasedUserID: String?

    public init(userID: String?, canonicalHandle: String, isErased: Bool? = nil, erasedUserID: String? = nil) {
        self.userID = userID
        self.canonicalHandle = canonicalHandle
        self.isErased = isErased
        self.erasedUserID = erasedUserID
    }
}

/// A user's state on its way from the partition of another handle of theirs.
public struct StateMoved: Sendable, Equatable, Codable {
    /// The handle that it was kept under.
    public let from: String
    /// The agent's own JSON, nobody else's matter.
    public let state: String
    /// Whose it is from now on; absent in what an older build has sent.
    public let userID: String?

    public init(from: String, state: String, userID: String? = nil) {
        self.from = from
        self.state = state
        self.userID = userID
    }
}

/// The moment at which a user's deferred events are to be tried again; from the agent to itself, through the user's
/// partition.
public struct LaneDue: Sendable, Equatable, Codable {
    public let dueAt: Timestamp

    public init(dueAt: Timestamp) { self.dueAt = dueAt }
}
