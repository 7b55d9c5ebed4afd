import Foundation
import Shared
import Testing

@testable import Ingress

@Suite struct `Linq webhook` {
    private static let at = Timestamp(millisecondsSince1970: 1_770_319_873_736)

    private func read(_ data: String, type: String = "message.received", version: String = "2026-02-03") -> LinqWebhook
    {
        let body = """
            {"api_version":"v3","webhook_version":"\(version)","event_type":"\(type)","event_id":"evt-1",
            "created_at":"2026-02-05T19:31:13.736444093Z","trace_id":"8af9171a45022df2eb74ba4e4c83be0f","data":\(data)}
            """
        return LinqWebhook.read(Array(body.utf8), webhookID: "hook-1", receivedAt: Self.at)
    }

    private func message(_ webhook: LinqWebhook) throws -> InboundMessage {
        guard case .event(_, _, let event) = webhook, case .message(let message) = event.content else {
            throw Unexpected(webhook: "\(webhook)")
        }
        return message
    }

    private struct Unexpected: Error {
        let webhook: String
    }

    private static let newer = #"""
        {"chat":{"id":"8f392755","is_group":false,"owner_handle":{"handle":"+12025551234","is_me":true}},"id":"89e3566e",
        "direction":"inbound","sender_handle":{"handle":"+1 (202) 555-9876","is_me":false,"service":"iMessage"},
        "parts":[{"type":"text","value":"Hello!"},{"type":"media","id":"f1","url":"https://cdn/x","mime_type":"image/jpeg",
        "filename":"photo.jpg","size_bytes":245678}],"reply_to":{"message_id":"347d62c2","part_index":0},
        "effect":null,"sent_at":"2026-02-05T19:31:13.074Z","service":"iMessage","new_field":{"x":[1]}}
        """#

    private static let older = #"""
        {"chat_id":"8f392755","from":"+12025559876","from_handle":{"handle":"+12025559876","is_me":false},
        "is_from_me":false,"is_group":false,"message":{"id":"89e3566e","parts":[{"type":"text","value":"Hello!"}],
        "sent_at":"2026-02-05T19:31:13.074Z"},"received_at":"2026-02-05T19:31:13.074Z","recipient_phone":null,
        "service":"iMessage"}
        """#

    @Test func `the newer version is read`() throws {
        let message = try message(read(Self.newer))
        #expect(message.messageID == "89e3566e")
        #expect(message.chat == Chat(id: "8f392755", isGroup: false))
        #expect(message.sender == "+12025559876")
        #expect(message.text == "Hello!")
        #expect(message.parts[1].mimeType == "image/jpeg")
        #expect(message.parts[1].size == 245_678)
        #expect(message.replyTo == "347d62c2")
        #expect(message.sentAt == Timestamp("2026-02-05T19:31:13.074Z"))
        #expect(message.receivedAt == Self.at)
    }

    @Test func `the older version is read to the same`() throws {
        let message = try message(read(Self.older, version: "2025-01-01"))
        #expect(message.messageID == "89e3566e")
        #expect(message.chat == Chat(id: "8f392755", isGroup: false))
        #expect(message.sender == "+12025559876")
        #expect(message.text == "Hello!")
        #expect(message.sentAt == Timestamp("2026-02-05T19:31:13.074Z"))
    }

    @Test func `the shape decides, not the version's name`() throws {
        #expect(try message(read(Self.newer, version: "2025-01-01")).text == "Hello!")
        #expect(try message(read(Self.older, version: "2026-02-03")).text == "Hello!")
    }

    @Test func `a fragment as seen in the field is enough`() throws {
        let message = try message(
            read(
                #"{"chat":{"id":"e51e2420"},"direction":"inbound","id":"7a37fcec","parts":[{"type":"text","value":"Hello"}],"sender_handle":{"handle":"+15551234567","is_me":false}}"#
            ))
        #expect(message.service == .iMessage)
        #expect(!message.chat.isGroup)
    }

    @Test func `an email handle, a group, a mention and unknown parts are read`() throws {
        let message = try message(
            read(
                #"""
                {"id":"m","direction":"inbound","chat":{"id":"c","is_group":true,"owner_handle":null},
                "sender_handle":{"handle":"User@Example.com"},"parts":[{"type":"text","value":"Hey Kevin, look",
                "mentions":[{"handle":"+12025551234","is_me":true,"range":[4,9]}]},
                {"type":"hologram","value":{"deep":[1]},"url":7}],"service":"RCS"}
                """#))
        #expect(message.sender == "user@example.com")
        #expect(message.chat.isGroup)
        #expect(message.mentionsLine)
        #expect(message.service == .rcs)
        #expect(message.parts[1] == MessagePart(type: "hologram"))
    }

    @Test func `what was recovered late says so`() throws {
        let late = Self.newer.replacingOccurrences(
            of: "\"effect\":null", with: "\"reconciled_at\":\"2026-01-30T22:05:00.000Z\"")
        #expect(try message(read(late)).isReconciled)
        #expect(try !message(read(Self.newer)).isReconciled)
    }

    @Test(arguments: [
        #"{"chat":{"id":"c"},"id":"m","direction":"outbound","sender_handle":{"handle":"+12025551234"},"parts":[]}"#,
        #"{"chat":{"id":"c"},"id":"m","sender_handle":{"handle":"+12025551234","is_me":true},"parts":[]}"#,
        #"{"chat_id":"c","is_from_me":true,"from":"+12025551234","message":{"id":"m","parts":[]}}"#,
    ])
    func `an echo of our own message is ignored`(data: String) {
        guard case .ignored(_, .ownMessage) = read(data) else { return #expect(Bool(false), "not ignored") }
    }

    @Test(arguments: ["message.sent", "message.delivered", "chat.created", "payment.succeeded", "something.new"])
    func `an event type that needs no action is ignored by its name`(type: String) {
        for data in ["{\"anything\":1}", "{\"sender_handle\":\"+12025559876\",\"id\":7}", "[]", "null"] {
            guard case .ignored(type, .notActedOn) = read(data, type: type) else {
                return #expect(Bool(false), "not ignored")
            }
        }
    }

    @Test func `an empty message of a line that keeps nothing is ignored`() {
        let data =
            #"{"chat":{"id":"c"},"id":"m","direction":"inbound","sender_handle":{"handle":"+12025559876"},"parts":[],"zero_retention":true}"#
        guard case .ignored(_, .zeroRetention) = read(data) else { return #expect(Bool(false), "not ignored") }
    }

    @Test func `a reaction and an edit are read`() throws {
        let reaction = read(
            #"""
            {"chat_id":"c","message_id":"m","part_index":0,"reaction_type":"custom","custom_emoji":"🍣","is_from_me":false,
            "from":"+14155559876","from_handle":{"handle":"+14155559876","is_me":false},"service":"iMessage"}
            """#, type: "reaction.removed")
        guard case .event("evt-1", _, let event) = reaction, case .reaction(let content) = event.content else {
            return #expect(Bool(false), "not a reaction")
        }
        #expect(event.handle == "+14155559876")
        #expect(content.emoji == "🍣" && content.reaction == "custom" && !content.isAdded)
        let edit = read(
            #"{"chat":{"id":"c"},"id":"m","direction":"inbound","sender_handle":{"handle":"+14155559876"},"part":{"index":0,"text":"700 cal"}}"#,
            type: "message.edited")
        guard case .event(_, _, let edited) = edit, case .edit(let change) = edited.content else {
            return #expect(Bool(false), "not an edit")
        }
        #expect(change.text == "700 cal" && change.messageID == "m")
    }

    @Test(arguments: [
        (#"{"chat":{"id":"c"},"id":"m","parts":[{"type":"text","value":"x"}]}"#, "data.sender_handle.handle"),
        (#"{"chat":{"id":"c"},"id":"m","sender_handle":{"handle":"nobody"},"parts":[]}"#, "data.sender_handle.handle"),
        (#"{"chat":{},"id":"m","sender_handle":{"handle":"+12025559876"},"parts":[]}"#, "data.chat.id"),
        (#"{"id":"m","sender_handle":{"handle":"+12025559876"},"parts":[]}"#, "data.chat_id"),
        (#"{"chat":{"id":"c"},"sender_handle":{"handle":"+12025559876"},"parts":[]}"#, "data.id"),
        (#"{"chat":{"id":"c"},"id":"m","sender_handle":{"handle":"+12025559876"}}"#, "data.parts"),
        (#"{"chat":{"id":"c"},"id":7,"sender_handle":{"handle":"+12025559876"},"parts":[]}"#, "data.id"),
        (#"{"chat":{"id":"c"},"id":"m","sender_handle":{"handle":"+12025559876"},"parts":{}}"#, "data.parts"),
    ])
    func `what is not as it should be is named by its path`(data: String, path: String) {
        guard case .unreadable(let reason) = read(data) else { return #expect(Bool(false), "was read") }
        #expect(reason.hasPrefix(path))
        #expect(!reason.contains("+12025559876"))
    }

    @Test(arguments: ["", "{", "[]", "null", "\"x\"", "{\"event_type\":7}", "{}", "\u{FEFF}{}"])
    func `rubbish is unreadable`(body: String) {
        guard case .unreadable = LinqWebhook.read(Array(body.utf8), webhookID: nil, receivedAt: Self.at) else {
            return #expect(Bool(false), "was read")
        }
    }

    @Test func `bytes that are no UTF-8 and very deep JSON are unreadable`() {
        for body in [[0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D], Array(repeating: UInt8(ascii: "["), count: 100_000)] {
            guard case .unreadable = LinqWebhook.read(body, webhookID: nil, receivedAt: Self.at) else {
                return #expect(Bool(false), "was read")
            }
        }
    }

    @Test(arguments: [
        String(repeating: "x", count: 256), "", "a\u{0}b", "a\r\nX-Injected: b", "a\u{1B}[2J", "\u{85}",
    ])
    func `an id that can name no message is unreadable, and parked`(id: String) throws {
        let quoted = String(decoding: try JSONEncoder().encode(id), as: UTF8.self)
        let bodies = [
            "{\"event_type\":\"message.received\",\"event_id\":\(quoted),\"data\":\(Self.newer)}",
            "{\"event_type\":\"message.received\",\"event_id\":\"e\",\"data\":"
                + #"{"chat":{"id":\#(quoted)},"id":"m","sender_handle":{"handle":"+12025559876"},"parts":[]}}"#,
            "{\"event_type\":\"message.received\",\"event_id\":\"e\",\"data\":"
                + #"{"chat":{"id":"c"},"id":\#(quoted),"sender_handle":{"handle":"+12025559876"},"parts":[]}}"#,
        ]
        for body in bodies {
            guard case .unreadable(let reason) = LinqWebhook.read(Array(body.utf8), webhookID: nil, receivedAt: Self.at)
            else { return #expect(Bool(false), "was read: \(body)") }
            #expect(reason.contains("1 to 255 bytes"))
        }
        // The webhook's own id comes from a header.
        let bare = Array("{\"event_type\":\"message.received\",\"data\":\(Self.newer)}".utf8)
        guard case .unreadable = LinqWebhook.read(bare, webhookID: id, receivedAt: Self.at) else {
            return #expect(Bool(false), "was read")
        }
    }

    @Test(arguments: ["1e400", "-1e400", "123456789012345678901234567890", "1.5", "-0.0", "1e-400"])
    func `a number that no integer can hold is unreadable, not a crash`(number: String) {
        let edit =
            "{\"event_type\":\"message.edited\",\"event_id\":\"e\",\"data\":{\"chat\":{\"id\":\"c\"},\"id\":\"m\","
            + #""sender_handle":{"handle":"+12025559876"},"part":{"index":\#(number),"text":"x"}}}"#
        switch LinqWebhook.read(Array(edit.utf8), webhookID: nil, receivedAt: Self.at) {
        case .unreadable: break
        case .event(_, _, let event):
            // Foundation takes what is a whole number after all, and rounds to zero what is next to it.
            guard case .edit(let change) = event.content else { return #expect(Bool(false), "not an edit") }
            #expect(change.partIndex == 0)
        case .ignored: #expect(Bool(false), "ignored")
        }
    }

    @Test func `NUL in a text is text, NUL in the JSON is none`() {
        let escaped = Self.newer.replacing("\"value\":\"", with: "\"value\":\"\\u0000")
        guard case .event = read(escaped) else { return #expect(Bool(false), "not read") }
        let raw = Array("{\"event_type\":\"message.received\",\"data\":\(Self.newer)}\0".utf8)
        guard case .unreadable = LinqWebhook.read([0] + raw, webhookID: "w", receivedAt: Self.at) else {
            return #expect(Bool(false), "was read")
        }
    }

    @Test func `without an event id the webhook's own id stands in`() {
        let body = Array("{\"event_type\":\"message.received\",\"data\":\(Self.newer)}".utf8)
        guard case .event("hook-1", nil, _) = LinqWebhook.read(body, webhookID: "hook-1", receivedAt: Self.at) else {
            return #expect(Bool(false), "not read")
        }
    }
}
