import Foundation
import Shared

/// What a genuine webhook is to us.
enum LinqWebhook {
    /// Something the agent should hear of.
    case event(id: String, traceID: String?, InboundEvent)
    /// Nothing to do: an event type that we do not act on, or an echo of our own message.
    case ignored(type: String, why: Ignored)
    /// It should have been readable and was not: it is kept whole for a person.
    case unreadable(reason: String)

    enum Ignored: String {
        case notActedOn = "not_acted_on"
        case ownMessage = "own_message"
        case zeroRetention = "zero_retention"
    }

    /// What could not be found in the body, by its path.
    struct Missing: Error, CustomStringConvertible {
        let path: String
        let expected: String

        var description: String { "\(path): expected \(expected)" }
    }

    /// Reads a body whose signature was found right.
    ///
    /// - Parameter webhookID: Stands in for `event_id` where the body has none.
    static func read(_ body: [UInt8], webhookID: String?, receivedAt: Timestamp) -> LinqWebhook {
        do {
            let payload = try JSON.decode(LinqPayload.self, from: body)
            guard let type = payload.event_type, !type.isEmpty else {
                throw Missing(path: "event_type", expected: "a text")
            }
            guard LinqPayload.isActedOn(type) else { return .ignored(type: type, why: .notActedOn) }
            guard let data = payload.data else { throw Missing(path: "data", expected: "an object") }
            let id = try identifier(payload.event_id ?? webhookID, "event_id")
            if data.direction == "outbound" || data.sender_handle?.is_me == true || data.is_from_me == true
                || data.from_handle?.is_me == true
            {
                return .ignored(type: type, why: .ownMessage)
            }
            let handle = try handle(data)
            let content = try content(type, data, handle, receivedAt)
            if data.zero_retention == true, case .message(let message) = content, message.parts.isEmpty {
                // The line keeps nothing and sent nothing along: there is no text that an agent could answer.
                return .ignored(type: type, why: .zeroRetention)
            }
            return .event(id: id, traceID: payload.trace_id, InboundEvent(handle: handle, content: content))
        } catch let error as DecodingError {
            return .unreadable(reason: words(error))
        } catch {
            return .unreadable(reason: "\(error)")
        }
    }

    private static func content(
        _ type: String, _ data: LinqPayload.EventData, _ handle: String, _ receivedAt: Timestamp
    ) throws -> InboundEvent.Content {
        let chat = try chat(data)
        switch type {
        case "message.edited":
            return .edit(
                InboundEdit(
                    messageID: try identifier(data.id, "data.id"), chat: chat, sender: handle,
                    partIndex: data.part?.index ?? 0, text: try text(data.part?.text, "data.part.text"),
                    receivedAt: receivedAt))
        case "reaction.added", "reaction.removed":
            return .reaction(
                InboundReaction(
                    chat: chat, sender: handle, service: data.service.map(MessageService.init(rawValue:)),
                    messageID: try identifier(data.message_id, "data.message_id"),
                    reaction: try text(data.reaction_type, "data.reaction_type"), emoji: data.custom_emoji,
                    isAdded: type == "reaction.added", receivedAt: receivedAt))
        default: return .message(try message(data, chat, handle, receivedAt))
        }
    }

    private static func message(
        _ data: LinqPayload.EventData, _ chat: Chat, _ handle: String, _ receivedAt: Timestamp
    ) throws -> InboundMessage {
        let isOlderShape = data.chat == nil
        let path = isOlderShape ? "data.message" : "data"
        guard let parts = isOlderShape ? data.message?.parts : data.parts else {
            throw Missing(path: "\(path).parts", expected: "a list")
        }
        return InboundMessage(
            messageID: try identifier(isOlderShape ? data.message?.id : data.id, "\(path).id"),
            chat: chat,
            sender: handle,
            // The fragments seen in the field lack it; what is not said to be something else came by iMessage.
            service: MessageService(rawValue: data.service ?? MessageService.iMessage.rawValue),
            parts: parts.map {
                MessagePart(
                    type: $0.type, value: $0.value, url: $0.url, mimeType: $0.mime_type, filename: $0.filename,
                    size: $0.size_bytes)
            },
            mentionsLine: parts.contains(where: \.mentionsLine),
            replyTo: (isOlderShape ? data.message?.reply_to : data.reply_to)?.message_id,
            isReconciled: data.reconciled_at != nil,
            sentAt: isOlderShape ? data.message?.sent_at ?? data.received_at : data.sent_at,
            receivedAt: receivedAt)
    }

    private static func chat(_ data: LinqPayload.EventData) throws -> Chat {
        if let chat = data.chat {
            return Chat(id: try identifier(chat.id, "data.chat.id"), isGroup: chat.is_group ?? false)
        }
        return Chat(id: try identifier(data.chat_id, "data.chat_id"), isGroup: data.is_group ?? false)
    }

    private static func handle(_ data: LinqPayload.EventData) throws -> String {
        let raw = data.sender_handle?.handle ?? data.from_handle?.handle ?? data.from
        let path = data.chat == nil ? "data.from_handle.handle" : "data.sender_handle.handle"
        guard let handle = Handle(try text(raw, path)) else {
            throw Missing(path: path, expected: "an E.164 number or an e-mail address")
        }
        return handle.text
    }

    /// Whether the text can be the name of something: a property of a message has 255 bytes, and a database no NUL.
    static func isIdentifier(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { !isControl($0) }
    }

    /// Unicode's category Cc, which is these for ever; to ask for the category of each scalar takes far longer.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    private static func identifier(_ value: String?, _ path: String) throws -> String {
        guard let value, isIdentifier(value) else {
            throw Missing(path: path, expected: "1 to 255 bytes of text without control characters")
        }
        return value
    }

    private static func text(_ value: String?, _ path: String) throws -> String {
        guard let value, !value.isEmpty else { throw Missing(path: path, expected: "a text") }
        return value
    }

    /// Where a decode failed and what was expected there, with nothing of what stood there.
    private static func words(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty ? "the body" : context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .typeMismatch(let type, let context): return "\(path(context)): expected \(type)"
        case .valueNotFound(let type, let context): return "\(path(context)): expected \(type), found null"
        case .keyNotFound(let key, let context): return "\(path(context)): \(key.stringValue) is missing"
        case .dataCorrupted(let context): return "\(path(context)): not readable as JSON of the expected form"
        @unknown default: return "not readable"
        }
    }
}
