import Foundation
import HTTPClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import Simulator

@Suite struct WebhookDeliveryTests {
    @Test func `a text arrives signed in both header families`() async throws {
        try await Rig.with { rig in
            let text: JSONValue = ["from": "+12025559876", "text": "chicken bowl, ~600 cal", "onboard": false]
            let posted = try await rig.control("POST", "/texts", text)
            #expect(posted.status == 202)
            try await eventually("the webhook arrives") { !rig.services.webhooks.isEmpty }
            let webhook = try #require(rig.services.webhooks.first)
            #expect(webhook.header("webhook-id") == posted.json["eventID"]?.string)
            #expect(webhook.json["event_id"] == posted.json["eventID"])
            #expect(webhook.json["data"]?["id"] == posted.json["messageID"])
            #expect(webhook.json["data"]?["chat"]?["id"] == posted.json["chatID"])
            #expect(webhook.header("x-webhook-event") == "message.received")
            let seconds = try #require(webhook.header("webhook-timestamp").flatMap(Int64.init))
            let signature = try #require(WebhookSignature(secret: Rig.webhookSecret))
            let expected = signature.headers(
                id: webhook.header("webhook-id") ?? "", eventType: "", subscription: "", seconds: seconds,
                body: webhook.body)
            for name in ["webhook-signature", "X-Webhook-Signature"] {
                #expect(webhook.header(name.lowercased()) == expected.first { $0.name == name }?.value)
            }
        }
    }

    @Test func `copies go out at once, with one id`() async throws {
        try await Rig.with { rig in
            let text: JSONValue = ["from": "+12025559876", "text": "twice", "copies": 3, "onboard": false]
            _ = try await rig.control("POST", "/texts", text)
            try await eventually("three copies arrive") { rig.services.webhooks.count == 3 }
            #expect(Set(rig.services.webhooks.map { $0.header("webhook-id") }).count == 1)
            #expect(Set(rig.services.webhooks.map(\.body)).count == 1)
        }
    }

    @Test func `receipts tell of what was sent and delivered, if they are wanted`() async throws {
        try await Rig.with(environment: ["SIMULATOR_RECEIPTS": "yes"]) { rig in
            let message: JSONValue = ["parts": [["type": "text", "value": "Logged."]], "idempotency_key": "k"]
            let sent = try await rig.linq("POST", "/messages", ["to": ["+12025559876"], "message": message])
            try await eventually("both receipts arrive") { rig.services.webhooks.count == 2 }
            let types = Set(rig.services.webhooks.map { $0.json["event_type"]?.string })
            #expect(types == ["message.sent", "message.delivered"])
            for webhook in rig.services.webhooks {
                #expect(webhook.json["data"]?["direction"] == "outbound")
                #expect(webhook.json["data"]?["id"] == sent.json["message"]?["id"])
                #expect(webhook.json["data"]?["idempotency_key"] == "k")
            }
        }
    }

    @Test func `a delayed text is overtaken`() async throws {
        try await Rig.with { rig in
            let late: JSONValue = [
                "from": "+12025559876", "text": "first", "delayMilliseconds": 3000, "onboard": false,
            ]
            let soon: JSONValue = ["from": "+12025559876", "text": "second", "onboard": false]
            _ = try await rig.control("POST", "/texts", late)
            _ = try await rig.control("POST", "/texts", soon)
            try await eventually("both arrive") { rig.services.webhooks.count == 2 }
            let words = rig.services.webhooks.map { $0.json["data"]?["parts"]?.array?.first?["value"]?.string }
            #expect(words == ["second", "first"])
        }
    }

    @Test(arguments: [[500, 503, 429, 0, 200], [200]]) func `it is tried until it is taken`(statuses: [Int])
        async throws
    {
        try await Self.sender { sender, services, waits in
            services.answer(statuses)
            let delivery = await sender.deliverAndWait(Self.event, to: try Self.target(services))
            #expect(delivery.outcome == "taken")
            #expect(delivery.attempts == statuses.count)
            #expect(services.webhooks.count == statuses.count)
            #expect(Set(services.webhooks.map { $0.header("webhook-id") }).count == 1)
            let seconds = waits.withLock { $0.map(\.seconds) }
            for (wait, expected) in zip(seconds, [2.0, 4, 8, 16]) {
                #expect(wait >= expected * 0.8 && wait <= expected * 1.2)
            }
            #expect(seconds.count == statuses.count - 1)
            #expect(sender.figures.taken == 1)
            #expect(sender.figures.retried == statuses.count - 1)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 410, 302]) func `a refusal is final`(status: Int) async throws {
        try await Self.sender { sender, services, waits in
            services.answer([status])
            let delivery = await sender.deliverAndWait(Self.event, to: try Self.target(services))
            #expect(delivery.outcome == "given up: status \(status) is not tried again")
            #expect(services.webhooks.count == 1)
            #expect(sender.figures.givenUp == 1)
        }
    }

    @Test func `it is given up after half an hour`() async throws {
        try await Self.sender { sender, services, waits in
            services.answer(Array(repeating: 503, count: 100))
            let delivery = await sender.deliverAndWait(Self.event, to: try Self.target(services))
            #expect(delivery.outcome == "given up: not taken within 30 minutes")
            #expect((8...14).contains(delivery.attempts))
            #expect(waits.withLock { $0.reduce(.zero, +) } <= .seconds(1800))
        }
    }

    private static let event = WebhookSender.Event(id: "event", type: "message.received", body: Array("{}".utf8))

    private static func target(_ services: Services) throws -> WebhookSender.Target {
        let signature = try #require(WebhookSignature(secret: Rig.webhookSecret))
        return WebhookSender.Target(id: "s", url: "http://127.0.0.1:\(services.port)/webhook", signature: signature)
    }

    /// A sender that does not sleep between its tries but notes how long it would.
    private static func sender(
        _ body: (WebhookSender, Services, Locked<[Duration]>) async throws -> Void
    ) async throws {
        let log = Log(service: "test", level: .error)
        let services = try Services(log: log)
        defer { services.close() }
        let http = HTTPClient(userAgent: "test", log: log)
        let waits = Locked<[Duration]>([])
        let sender = WebhookSender(http: http, clock: .system, trails: Trails()) { wait in
            waits.withLock { $0.append(wait) }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(sender, services, waits)) } catch { result = .failure(error) }
        await sender.close()
        await http.close()
        try result.get()
    }
}
