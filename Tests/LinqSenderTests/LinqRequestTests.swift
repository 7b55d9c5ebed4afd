import Foundation
import HTTPClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import LinqSender

@Suite struct `Linq request` {
    private let request = LinqRequest(
        baseURL: "https://api.example/api/partner", token: Secret("t0k"), replyVia: .messages)

    private func reply(group: Bool = false) -> ReplyRequest {
        ReplyRequest(
            chat: Chat(id: "94c6bf33-31d9", isGroup: group), to: "+14155559876", idempotencyKey: "key-1",
            parts: [MessagePart(type: "text", value: "Hi / there")], replyTo: "m-1",
            effect: ReplyRequest.Effect(type: "screen", name: "confetti"), receivedAt: nil,
            expiresAt: Timestamp(millisecondsSince1970: 0))
    }

    private func object(_ bytes: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    @Test func `a direct chat's reply goes to its handle`() throws {
        let made = try request.make(reply())
        #expect(made.url == "https://api.example/api/partner/v3/messages")
        #expect(made.method == "POST")
        #expect(made.headers.contains { $0.name == "Authorization" && $0.value == "Bearer t0k" })
        #expect(made.headers.contains { $0.name == "Idempotency-Key" && $0.value == "key-1" })
        let expected = #"""
            {"to":["+14155559876"],"message":{"parts":[{"type":"text","value":"Hi / there"}],"idempotency_key":"key-1",
            "reply_to":{"message_id":"m-1"},"effect":{"type":"screen","name":"confetti"}}}
            """#
        #expect(try object(made.body) == object(Array(expected.utf8)))
    }

    @Test func `a group's reply, and any by setting, goes to its chat and names nobody`() throws {
        let viaChat = LinqRequest(baseURL: "https://x", token: Secret("t"), replyVia: .chat)
        for made in [try request.make(reply(group: true)), try viaChat.make(reply())] {
            #expect(made.url.hasSuffix("/v3/chats/94c6bf33-31d9/messages"))
            #expect(try object(made.body)["to"] == nil)
            #expect(!made.headers.contains { $0.name == "Idempotency-Key" })
        }
    }

    @Test func `a body writes itself as its Codable says`() throws {
        for text in JSONDifferences.texts {
            let full = LinqRequest.Body(
                to: [text],
                message: LinqRequest.Body.Content(
                    parts: [.init(type: text, value: text, url: text), .init(type: "", value: nil, url: nil)],
                    idempotency_key: text, reply_to: .init(message_id: text),
                    effect: ReplyRequest.Effect(type: text, name: text)))
            let bare = LinqRequest.Body(
                to: nil,
                message: LinqRequest.Body.Content(parts: [], idempotency_key: text, reply_to: nil, effect: nil))
            #expect(try JSONDifferences.ofWriting(full) + JSONDifferences.ofWriting(bare) == [])
        }
    }
}

@Suite struct `Pair pacing` {
    @Test func `the thirty-first message in a minute waits until the first is a minute old`() {
        let pacing = PairPacing()
        for count in 0..<30 { #expect(pacing.delay("a", at: 100 + Double(count)) == nil) }
        let delay = pacing.delay("a", at: 130)
        #expect(delay == .milliseconds(30_001))
        #expect(pacing.delay("b", at: 130) == nil)
        #expect(pacing.delay("a", at: 160.1) == nil)
        #expect(pacing.delay("a", at: 160.2) != nil)
    }

    @Test func `a message that Linq has refused takes nobody's place`() {
        let pacing = PairPacing()
        for count in 0..<30 { #expect(pacing.delay("a", at: 100 + Double(count)) == nil) }
        #expect(pacing.delay("a", at: 130) != nil)
        pacing.giveBack("a", at: 129)
        #expect(pacing.delay("a", at: 130) == nil)
        #expect(pacing.delay("a", at: 131) == .milliseconds(29_001))
    }
}

@Suite struct `A reply's time` {
    private let reply = ReplyRequest(
        chat: Chat(id: "c", isGroup: false), to: "+14155559876", idempotencyKey: "key-1", parts: [], receivedAt: nil,
        expiresAt: Timestamp(millisecondsSince1970: 1_000_000))

    @Test func `is its own, and begins anew when a person puts it back`() {
        #expect(ReplySender.expiry(of: reply, headers: [:]) == reply.expiresAt)
        let headers = [ParkedHeader.replayedAt: "5000"]
        #expect(
            ReplySender.expiry(of: reply, headers: headers)
                == Timestamp(millisecondsSince1970: 5_000_000 + 15 * 60 * 1000))
        #expect(ReplySender.expiry(of: reply, headers: [ParkedHeader.replayedAt: "0"]) == reply.expiresAt)
        #expect(ReplySender.expiry(of: reply, headers: [ParkedHeader.replayedAt: "soon"]) == reply.expiresAt)
    }
}
