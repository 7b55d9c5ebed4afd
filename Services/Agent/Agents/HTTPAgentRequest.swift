import Foundation
import Shared

/// What an agent behind HTTP is told: the JSON of one event.
///
/// What is absent is left out.
struct HTTPAgentRequest: Encodable {
    struct Event: Encodable {
        let id: String
        /// "message", "reaction", "edit", "custom" or "sessionEnding".
        let kind: String
        var receivedAt: Timestamp
        var text: String?
        var messageID: String?
        var sender: String?
        var service: String?
        var chat: Chat?
        var parts: [MessagePart]?
        var mentionsLine: Bool?
        /// Linq recovered the message late; replies to it are not sent.
        var isReconciled: Bool?
        /// The text is a keyword that opts out; replies to it are refused by Linq.
        var isOptOut: Bool?
        var replyTo: String?
        var sentAt: Timestamp?
        var reaction: String?
        var emoji: String?
        var isAdded: Bool?
        var partIndex: Int?
        /// Of a custom event: its name, and its payload as it came.
        var name: String?
        var payload: AnyJSON?
    }

    struct User: Encodable {
        let handle: String
        let id: String?
        let timeZone: String?
        let locale: String?
    }

    struct Session: Encodable {
        let id: String
        let isNew: Bool
        let startedAt: Timestamp
    }

    struct Island: Encodable {
        let attributesType: String
        /// What it was last told to show.
        let contentState: AnyJSON?
    }

    let event: Event
    let user: User
    let session: Session
    let island: Island

    init(_ event: AgentEvent, _ context: AgentContext, attributesType: String) {
        self.event = Event(event, context)
        user = User(
            handle: context.user.handle, id: context.user.id, timeZone: context.user.timeZone?.identifier,
            locale: context.user.locale?.identifier)
        session = Session(
            id: context.session.id, isNew: context.session.isNew, startedAt: Timestamp(context.session.startedAt))
        island = Island(
            attributesType: attributesType, contentState: context.contentState.flatMap { AnyJSON(parsing: $0) })
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return Array(try encoder.encode(self))
    }
}

extension HTTPAgentRequest.Event {
    init(_ event: AgentEvent, _ context: AgentContext) {
        switch event {
        case .message(let message):
            self.init(id: context.eventID, kind: "message", receivedAt: message.receivedAt)
            text = message.text
            messageID = message.messageID
            sender = message.sender
            service = message.service.rawValue
            chat = message.chat
            parts = message.parts
            mentionsLine = message.mentionsLine
            isReconciled = message.isReconciled
            isOptOut = message.isOptOut
            replyTo = message.replyTo
            sentAt = message.sentAt
        case .reaction(let change):
            self.init(id: context.eventID, kind: "reaction", receivedAt: change.receivedAt)
            messageID = change.messageID
            sender = change.sender
            service = change.service?.rawValue
            chat = change.chat
            reaction = change.reaction
            emoji = change.emoji
            isAdded = change.isAdded
        case .edit(let edit):
            self.init(id: context.eventID, kind: "edit", receivedAt: edit.receivedAt)
            text = edit.text
            messageID = edit.messageID
            sender = edit.sender
            chat = edit.chat
            partIndex = edit.partIndex
        case .custom(let custom):
            self.init(id: context.eventID, kind: "custom", receivedAt: custom.receivedAt)
            name = custom.name
            payload = AnyJSON(parsing: custom.payload.utf8) ?? .string(custom.payload)
        case .sessionEnding:
            self.init(id: context.eventID, kind: "sessionEnding", receivedAt: Timestamp(context.now))
        }
    }
}
