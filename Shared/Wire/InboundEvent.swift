/// What happened to a user, on its way to the agent; all of one handle's events go through one partition.
public struct InboundEvent: Sendable, Equatable {
    /// The partition key: the sender's handle (E.164 or lower-case e-mail), or the user's canonical handle once
    /// the agent has passed the event on.
    public let handle: String
    /// Whether the agent has already passed this on from another handle of the same user.
    ///
    /// It does so once at most.
    public let isPassedOn: Bool
    public let content: Content

    public init(handle: String, isPassedOn: Bool = false, content: Content) {
        self.handle = handle
        self.isPassedOn = isPassedOn
        self.content = content
    }

    public enum Content: Sendable, Equatable {
        /// A text, a photo, a link: Linq's `message.received`.
        case message(InboundMessage)
        /// A reaction that was added or removed.
        case reaction(InboundReaction)
        /// A text that its sender changed afterwards.
        case edit(InboundEdit)
        /// Something that the customer's own backend says happened to the user.
        case custom(CustomEvent)
        /// A session's time has come: it has been idle, or its card nears the end of its life.
        case sessionDue(SessionDue)
        /// The registry has a new token of the user's: an Island that could not be reached may be now.
        case islandReachable(IslandReachable)
        /// The user's handle, canonical handle or user id is not what it was.
        case identityChanged(IdentityChanged)
        /// The state of a user whose canonical handle this has become.
        case stateMoved(StateMoved)
        /// Events of the user wait in the agent's database, and their time has come.
        case laneDue(LaneDue)
    }

    /// The event's type on the wire.
    public var type: String { content.kind.rawValue }

    enum Kind: String {
        case message = "isthmus.message.received.v1"
        case reaction = "isthmus.reaction.changed.v1"
        case edit = "isthmus.message.edited.v1"
        case custom = "isthmus.custom.posted.v1"
        case sessionDue = "isthmus.session.due.v1"
        case islandReachable = "isthmus.island.reachable.v1"
        case identityChanged = "isthmus.identity.changed.v1"
        case stateMoved = "isthmus.state.moved.v1"
        case laneDue = "isthmus.lane.due.v1"
    }
}

extension InboundEvent.Content {
    var kind: InboundEvent.Kind {
        switch self {
        case .message: .message
        case .reaction: .reaction
        case .edit: .edit
        case .custom: .custom
        case .sessionDue: .sessionDue
        case .islandReachable: .islandReachable
        case .identityChanged: .identityChanged
        case .stateMoved: .stateMoved
        case .laneDue: .laneDue
        }
    }
}

extension InboundEvent: Encodable, WirePayload {
    private enum CodingKeys: String, CodingKey { case handle, passedOn, content }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(handle, forKey: .handle)
        if isPassedOn { try container.encode(true, forKey: .passedOn) }
        switch content {
        case .message(let value): try container.encode(value, forKey: .content)
        case .reaction(let value): try container.encode(value, forKey: .content)
        case .edit(let value): try container.encode(value, forKey: .content)
        case .custom(let value): try container.encode(value, forKey: .content)
        case .sessionDue(let value): try container.encode(value, forKey: .content)
        case .islandReachable(let value): try container.encode(value, forKey: .content)
        case .identityChanged(let value): try container.encode(value, forKey: .content)
        case .stateMoved(let value): try container.encode(value, forKey: .content)
        case .laneDue(let value): try container.encode(value, forKey: .content)
        }
    }

    public static func decode(type: String, from decoder: any Decoder) throws -> InboundEvent {
        guard let kind = Kind(rawValue: type) else { throw UnsupportedWireType(type: type) }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let content: Content =
            switch kind {
            case .message: .message(try container.decode(InboundMessage.self, forKey: .content))
            case .reaction: .reaction(try container.decode(InboundReaction.self, forKey: .content))
            case .edit: .edit(try container.decode(InboundEdit.self, forKey: .content))
            case .custom: .custom(try container.decode(CustomEvent.self, forKey: .content))
            case .sessionDue: .sessionDue(try container.decode(SessionDue.self, forKey: .content))
            case .islandReachable: .islandReachable(try container.decode(IslandReachable.self, forKey: .content))
            case .identityChanged: .identityChanged(try container.decode(IdentityChanged.self, forKey: .content))
            case .stateMoved: .stateMoved(try container.decode(StateMoved.self, forKey: .content))
            case .laneDue: .laneDue(try container.decode(LaneDue.self, forKey: .content))
            }
        return InboundEvent(
            handle: try container.decode(String.self, forKey: .handle),
            isPassedOn: try container.decodeIfPresent(Bool.self, forKey: .passedOn) ?? false,
            content: content)
    }
}

extension InboundEvent: JSONWritable, JSONPayload {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("handle", handle)
            if isPassedOn { $0.field("passedOn", true) }
            switch content {
            case .message(let value): $0.field("content", value)
            case .reaction(let value): $0.field("content", value)
            case .edit(let value): $0.field("content", value)
            case .custom(let value): $0.field("content", value)
            case .sessionDue(let value): $0.field("content", value)
            case .islandReachable(let value): $0.field("content", value)
            case .identityChanged(let value): $0.field("content", value)
            case .stateMoved(let value): $0.field("content", value)
            case .laneDue(let value): $0.field("content", value)
            }
        }
    }

    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> InboundEvent {
        guard let kind = Kind(rawValue: type) else { throw JSONUnusual() }
        var json = try json.object()
        let handle: String = try json.value("handle")
        let isPassedOn: Bool = try json.optional("passedOn") ?? false
        let content: Content =
            switch kind {
            case .message: .message(try json.value("content"))
            case .reaction: .reaction(try json.value("content"))
            case .edit: .edit(try json.value("content"))
            case .custom: .custom(try json.value("content"))
            case .sessionDue: .sessionDue(try json.value("content"))
            case .islandReachable: .islandReachable(try json.value("content"))
            case .identityChanged: .identityChanged(try json.value("content"))
            case .stateMoved: .stateMoved(try json.value("content"))
            case .laneDue: .laneDue(try json.value("content"))
            }
        return InboundEvent(handle: handle, isPassedOn: isPassedOn, content: content)
    }
}
