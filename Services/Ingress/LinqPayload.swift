import Foundation
import Shared

/// A webhook's body as Linq writes it, in either of its versions; what we do not read is not declared.
///
/// The version is told by structure, `data.chat` against `data.chat_id`: the version string has been seen to be wrong.
/// Everything is optional here, so that a missing field is a finding with a name, not a failed decode.
struct LinqPayload: Decodable {
    let event_type: String?
    let event_id: String?
    let trace_id: String?
    /// `nil` as well for an event type that is not acted on: its data may have any shape.
    let data: EventData?

    private enum CodingKeys: String, CodingKey { case event_type, event_id, trace_id, data }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        event_type = try container.decodeIfPresent(String.self, forKey: .event_type)
        event_id = try container.decodeIfPresent(String.self, forKey: .event_id)
        trace_id = try container.decodeIfPresent(String.self, forKey: .trace_id)
        data =
            Self.isActedOn(event_type) ? try container.decodeIfPresent(EventData.self, forKey: .data) : nil
    }

    /// Whether the agent hears of events of this type.
    static func isActedOn(_ type: String?) -> Bool {
        switch type {
        case "message.received", "message.edited", "reaction.added", "reaction.removed": true
        default: false
        }
    }

    struct EventData: Decodable {
        // 2026-02-03
        let id: String?
        let direction: String?
        let chat: ChatObject?
        let sender_handle: HandleObject?
        let parts: [Part]?
        let part: EditedPart?
        let reply_to: ReplyTo?
        let sent_at: Timestamp?
        // 2025-01-01, reactions and edits
        let chat_id: String?
        let is_group: Bool?
        let is_from_me: Bool?
        let from: String?
        let from_handle: HandleObject?
        let message: MessageObject?
        let message_id: String?
        let reaction_type: String?
        let custom_emoji: String?
        let received_at: Timestamp?
        // both
        let service: String?
        let reconciled_at: String?
        let zero_retention: Bool?
    }

    struct ChatObject: Decodable {
        let id: String?
        let is_group: Bool?
    }

    struct HandleObject: Decodable {
        let handle: String?
        let is_me: Bool?
    }

    struct ReplyTo: Decodable {
        let message_id: String?
    }

    struct MessageObject: Decodable {
        let id: String?
        let parts: [Part]?
        let reply_to: ReplyTo?
        let sent_at: Timestamp?
    }

    struct EditedPart: Decodable {
        let index: Int?
        let text: String?
    }

    /// A part of any type; a field that has not the shape we know is left out, since new part types come unannounced.
    struct Part: Decodable {
        let type: String
        let value: String?
        let url: String?
        let mime_type: String?
        let filename: String?
        let size_bytes: Int?
        let mentionsLine: Bool

        private enum CodingKeys: String, CodingKey { case type, value, url, mime_type, filename, size_bytes, mentions }

        struct Mention: Decodable {
            let is_me: Bool?
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = try container.decode(String.self, forKey: .type)
            // A field of another shape than ours belongs to a part type that we do not know: nothing is lost by it.
            value = try? container.decodeIfPresent(String.self, forKey: .value)
            url = try? container.decodeIfPresent(String.self, forKey: .url)
            mime_type = try? container.decodeIfPresent(String.self, forKey: .mime_type)
            filename = try? container.decodeIfPresent(String.self, forKey: .filename)
            size_bytes = try? container.decodeIfPresent(Int.self, forKey: .size_bytes)
            let mentions = (try? container.decodeIfPresent([Mention].self, forKey: .mentions)) ?? []
            mentionsLine = mentions.contains { $0.is_me == true }
        }
    }
}
