import Foundation
import Runtime
import Shared

/// The JSON of a webhook, with the fields and in the order of Linq's own examples.
struct WebhookBody: Sendable {
    let eventID: String
    let text: InboundText
    let message: LinqBook.Message
    let chat: LinqBook.Chat
    let line: String
    /// Tells that an echo has reached the phone, not just left.
    var isDelivered = false
    /// The day the line and its people came together, as examples show it.
    private static let joined = Date(timeIntervalSince1970: 1_767_505_731)

    var version: WebhookVersion { text.version.flatMap(WebhookVersion.init(rawValue:)) ?? .v2026 }

    var eventType: String {
        if text.reaction != nil { return text.removed == true ? "reaction.removed" : "reaction.added" }
        guard isEcho else { return "message.received" }
        return isDelivered ? "message.delivered" : "message.sent"
    }

    var bytes: [UInt8] {
        let data = text.reaction != nil ? reaction : version == .v2026 ? data2026 : data2025
        // Linq gives nanoseconds here.
        let created = String(Timestamp(message.at).description.dropLast()) + "444093Z"
        let envelope = """
            {"api_version":"v3","webhook_version":"\(version.rawValue)","event_type":"\(eventType)",\
            "event_id":"\(eventID)","created_at":"\(created)","trace_id":"\(eventID.filter { $0 != "-" })",\
            "partner_id":"simulated-partner","data":\(data)}
            """
        return Array(envelope.utf8)
    }

    private var isEcho: Bool { text.echo == true }

    private var deliveredAt: String { isDelivered ? "\"\(Timestamp(message.at))\"" : "null" }

    private var data2026: String {
        let sender = isEcho ? line : text.from
        var data = """
            {"chat":{"id":\(chat.id.json),"is_group":\(chat.isGroup),"owner_handle":\(handle(line)),\
            "health_status":{"status":"HEALTHY","doc_url":"https://docs.linqapp.com/guides/chats/chat-health#healthy",\
            "updated_at":"\(Timestamp(message.at))"}},"id":\(message.id.json),\
            "direction":"\(isEcho ? "outbound" : "inbound")","sender_handle":\(handle(sender)),\
            "parts":[\(parts)],"effect":null,"reply_to":\(replyTo),"sent_at":"\(Timestamp(message.at))",\
            "delivered_at":\(deliveredAt),"read_at":null,"service":\(message.service.json)
            """
        if isEcho { data += ",\"preferred_service\":null,\"idempotency_key\":\(message.idempotencyKey.json)" }
        if text.reconciled == true { data += ",\"reconciled_at\":\"\(Timestamp(message.at))\"" }
        return data + "}"
    }

    private var data2025: String {
        let sender = isEcho ? line : text.from
        let receiver = isEcho ? text.from : line
        let at = Timestamp(message.at)
        var data = """
            {"chat_id":\(chat.id.json),"from":\(sender.json),"from_handle":\(handle(sender)),\
            "idempotency_key":\(message.idempotencyKey.json),"is_from_me":\(isEcho),"is_group":\(chat.isGroup),\
            "message":{"created_at":"\(at)","delivered_at":\(deliveredAt),\
            "id":\(message.id.json),"is_delivered":\(isDelivered),"is_read":false,"parts":[\(parts)],"read_at":null,\
            "reply_to":\(replyTo),"sent_at":"\(at)","updated_at":"\(at)"},"preferred_service":null,\
            "received_at":"\(at)","recipient_handle":\(handle(receiver)),"recipient_phone":null,\
            "service":\(message.service.json)
            """
        if text.reconciled == true { data += ",\"reconciled_at\":\"\(at)\"" }
        return data + "}"
    }

    private var reaction: String {
        """
        {"chat_id":\(chat.id.json),"message_id":\((text.messageID ?? message.id).json),"part_index":0,\
        "reaction_type":\(text.reaction.json),"custom_emoji":null,"is_from_me":false,"from":\(text.from.json),\
        "from_handle":\(handle(text.from)),"service":\(message.service.json),\
        "reacted_at":"\(Timestamp(message.at))","sticker":null}
        """
    }

    private var parts: String { message.parts.map(\.text).joined(separator: ",") }

    private var replyTo: String {
        text.messageID.map { "{\"message_id\":\($0.json),\"part_index\":0}" } ?? "null"
    }

    private func handle(_ handle: String) -> String {
        LinqAnswer.handle(handle, isLine: handle == line, service: message.service, since: Self.joined)
    }

    /// The parts of a message that a person sends.
    static func parts(of text: InboundText, line: String) -> [JSONValue] {
        var parts: [JSONValue] = []
        if let words = text.text {
            var part: [String: JSONValue] = ["type": "text", "value": .string(words)]
            if text.mention == true {
                let mention: JSONValue = ["handle": .string(line), "is_me": true, "range": [0, 0]]
                part["mentions"] = [mention]
            }
            parts.append(.object(part))
        }
        if let link = text.link { parts.append(["type": "link", "value": .string(link)]) }
        if let media = text.media {
            parts.append([
                "type": "media", "id": .string(UUID().uuidString.lowercased()), "url": .string(media),
                "filename": "photo.jpg", "mime_type": "image/jpeg", "size_bytes": 245_678,
            ])
        }
        return parts
    }
}
