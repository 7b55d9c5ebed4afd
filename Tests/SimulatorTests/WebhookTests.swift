import Foundation
import Runtime
import Shared
import Testing

@testable import Simulator

@Suite struct WebhookTests {
    /// A delivery of Linq's own making, and what two other implementations sign it with.
    @Test func `both signatures are those that other implementations compute`() throws {
        let body = #"{"value":"Happy birthday 🎂! 🎉🎉"}"#
        let signature = try #require(WebhookSignature(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE="))
        let headers = signature.headers(
            id: "evt_1", eventType: "message.received", subscription: "s", seconds: 1_770_319_873,
            body: Array(body.utf8))
        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        #expect(header("webhook-signature") == "v1,bY9L18imLMy6fMAen78v83FSAy+MVasj0TGgrHYb+7M=")
        #expect(header("webhook-id") == "evt_1")
        #expect(header("webhook-timestamp") == "1770319873")
        #expect(header("X-Webhook-Signature") == "3c7c41182b38c2d83f56b7151f342f23e6936b17b34e166dbd9ab48a2cfc2c69")
    }

    @Test(arguments: ["", "whsec_", "abc", "whsec_%%%"]) func `a secret that is none is refused`(secret: String) {
        #expect(WebhookSignature(secret: secret) == nil)
    }

    private static let decisions: [(WebhookRetry.Outcome, WebhookRetry.Decision)] = [
        (.answered(status: 200), .done), (.answered(status: 204), .done),
        (.answered(status: 500), .again(after: .seconds(2))), (.answered(status: 503), .again(after: .seconds(2))),
        (.answered(status: 429), .again(after: .seconds(2))), (.network("refused"), .again(after: .seconds(2))),
        (.answered(status: 400), .giveUp("status 400 is not tried again")),
        (.answered(status: 403), .giveUp("status 403 is not tried again")),
        (.answered(status: 404), .giveUp("status 404 is not tried again")),
        (.answered(status: 302), .giveUp("status 302 is not tried again")),
        (.noSuchHost("no such host"), .giveUp("no such host")),
    ]

    @Test(arguments: decisions) func `what is tried again follows Linq's rules`(
        outcome: WebhookRetry.Outcome, decision: WebhookRetry.Decision
    ) {
        #expect(WebhookRetry.decide(outcome, attempt: 1, elapsed: .zero, random: 0.5) == decision)
    }

    @Test func `waits double up to ten minutes and stop after thirty`() {
        var waits: [Duration] = []
        var elapsed = Duration.zero
        while case .again(let wait) = WebhookRetry.decide(
            .answered(status: 503), attempt: waits.count + 1, elapsed: elapsed, random: 0.5)
        {
            waits.append(wait)
            elapsed += wait
        }
        #expect(waits.prefix(4) == [.seconds(2), .seconds(4), .seconds(8), .seconds(16)])
        #expect(waits.max() == .seconds(600))
        #expect(elapsed <= WebhookRetry.window)
        #expect(
            WebhookRetry.decide(.answered(status: 503), attempt: 1, elapsed: .zero, random: 0)
                == .again(after: .milliseconds(1600)))
    }

    private func body(_ text: InboundText) throws -> JSONValue {
        let chat = LinqBook.Chat(id: "8f392755-6865-4b18-880a-227f9d8b458f", handles: [text.from], service: "iMessage")
        let message = LinqBook.Message(
            id: "89e3566e-1d13-49e5-a8ee-48490d5bfeb7", chatID: chat.id, direction: .inbound, sender: text.from,
            parts: WebhookBody.parts(of: text, line: "+12025551234"), service: text.service ?? "iMessage",
            at: Date(timeIntervalSince1970: 1_770_319_873), idempotencyKey: nil)
        let body = WebhookBody(eventID: "e", text: text, message: message, chat: chat, line: "+12025551234")
        return try JSONValue(parsing: body.bytes)
    }

    @Test func `a text has the shape of version 2026-02-03`() throws {
        let json = try body(InboundText(from: "+12025559876", text: "say \"hi\"\n/"))
        #expect(json["webhook_version"] == "2026-02-03")
        #expect(json["event_type"] == "message.received")
        let data = try #require(json["data"])
        #expect(data["direction"] == "inbound")
        #expect(data["chat"]?["owner_handle"]?["is_me"] == true)
        #expect(data["sender_handle"]?["handle"] == "+12025559876")
        #expect(data["parts"] == [["type": "text", "value": "say \"hi\"\n/"]])
        #expect(data["service"] == "iMessage")
    }

    @Test func `the older version, SMS, media, reactions and echoes have their shapes`() throws {
        let old = try body(InboundText(from: "+12025559876", text: "hi", service: "SMS", version: "2025-01-01"))
        #expect(old["data"]?["message"]?["parts"] == [["type": "text", "value": "hi"]])
        #expect(old["data"]?["service"] == "SMS")
        #expect(old["data"]?["chat_id"] == "8f392755-6865-4b18-880a-227f9d8b458f")

        let media = try body(InboundText(from: "+12025559876", media: "https://example.com/a.jpg"))
        #expect(media["data"]?["parts"]?.array?.first?["url"] == "https://example.com/a.jpg")

        let reaction = try body(InboundText(from: "+12025559876", reaction: "love", messageID: "m"))
        #expect(reaction["event_type"] == "reaction.added")
        #expect(reaction["data"]?["message_id"] == "m")

        let echo = try body(InboundText(from: "+12025559876", text: "mine", echo: true))
        #expect(echo["event_type"] == "message.sent")
        #expect(echo["data"]?["direction"] == "outbound")

        let late = try body(InboundText(from: "+12025559876", text: "late", reconciled: true))
        #expect(late["data"]?["reconciled_at"]?.string != nil)
    }
}
