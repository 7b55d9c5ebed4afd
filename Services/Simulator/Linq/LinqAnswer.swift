import Foundation
import Shared

/// The bodies of Linq's successful answers (API v3, `SentMessage` and the two envelopes around it).
enum LinqAnswer {
    /// The answer of `POST /v3/messages`.
    static func toHandles(
        _ message: LinqBook.Message, _ content: MessageContent, _ chat: LinqBook.Chat, line: String, isNew: Bool
    ) -> String {
        let handles = ([line] + chat.handles).map {
            handle($0, isLine: $0 == line, service: chat.service, since: message.at)
        }
        let reason = isNew ? "new_best_number" : "reused_active_chat"
        return """
            {"chat_id":\(chat.id.json),"created_new_chat":\(isNew),"from":\(line.json),\
            "from_selection":{"reason":"\(reason)","reused_existing_chat":\(!isNew)},\
            "handles":[\(handles.joined(separator: ","))],"is_group":\(chat.isGroup),\
            "message":\(sent(message, content, line: line)),"service":\(message.service.json),"previous_chat_id":null}
            """
    }

    /// The answer of `POST /v3/chats/{chatId}/messages`.
    static func toChat(
        _ message: LinqBook.Message, _ content: MessageContent, _ chat: LinqBook.Chat, line: String
    ) -> String {
        "{\"chat_id\":\(chat.id.json),\"message\":\(sent(message, content, line: line))}"
    }

    private static func sent(_ message: LinqBook.Message, _ content: MessageContent, line: String) -> String {
        let parts = message.parts.map { part -> String in
            guard case .object(var members) = part else { return part.text }
            members["reactions"] = .null
            return JSONValue.object(members).text
        }
        return """
            {"id":\(message.id.json),"created_at":"\(Timestamp(message.at))","delivery_status":"pending",\
            "is_read":false,"parts":[\(parts.joined(separator: ","))],"sent_at":null,"delivered_at":null,\
            "effect":\(content.effect?.text ?? "null"),\
            "from_handle":\(handle(line, isLine: true, service: message.service, since: message.at)),\
            "preferred_service":\(content.preferredService.json),"reply_to":\(content.replyTo?.text ?? "null"),\
            "service":\(message.service.json)}
            """
    }

    /// A `ChatHandle`.
    static func handle(_ handle: String, isLine: Bool, service: String, since: Date) -> String {
        """
        {"handle":\(handle.json),"id":"\(HandleID.of(handle))","is_me":\(isLine),"joined_at":"\(Timestamp(since))",\
        "left_at":null,"service":\(service.json),"status":"active"}
        """
    }
}
