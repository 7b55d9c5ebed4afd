import AMQP
import Crypto
import Foundation
import HTTPClient
import HTTPServer
import RegistryClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import Ingress

/// Events of the customer's own backend, over HTTP.
@Suite struct EventsHandlerTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE="
    private static let now: Int64 = 1_770_319_873
    private static let body = #"{"name":"left_kitchen","handle":"+1 (202) 555-9876","payload":{"etaEpoch":1770321000}}"#

    /// What is published, and what the broker and the registry say.
    private final class World: Sendable {
        let published = Locked<[(message: AMQPMessage, routingKey: String)]>([])
        let brokerFailure = Locked<PublishError?>(nil)
        let record = Locked<RegistryRecord?>(nil)

        var events: [CloudEvent<InboundEvent>] {
            get throws { try published.withLock { $0 }.map { try CloudEvent(decoding: $0.message.body) } }
        }
    }

    private struct Post {
        let world: World
        let client: HTTPClient
        let url: String

        func callAsFunction(
            _ body: String = EventsHandlerTests.body, id: String = "evt_1", at: Int64 = EventsHandlerTests.now,
            method: String = "POST", headers: [(name: String, value: String)]? = nil
        ) async throws -> (status: Int, text: String, response: HTTPClientResponse) {
            let response = try await client.send(
                HTTPClientRequest(
                    method, url, headers: try headers ?? EventsHandlerTests.sign(body, id, at), body: Array(body.utf8)),
                within: .seconds(30))
            return (response.status, String(decoding: response.body, as: UTF8.self), response)
        }
    }

    private static func sign(_ body: String, _ id: String, _ at: Int64) throws -> [(name: String, value: String)] {
        let key = try #require(Data(base64Encoded: String(secret.dropFirst(6))))
        let signature = HMACKey(Array(key)).authenticate(Array("\(id).\(at).\(body)".utf8))
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(at)"),
            ("webhook-signature", "v1," + Data(signature).base64EncodedString()),
        ]
    }

    private func with(secrets: [String] = [secret], _ body: (Post) async throws -> Void) async throws {
        let quiet = Log(service: "test", level: .error, write: { _ in })
        let world = World()
        let handler = EventsHandler(
            secrets: try secrets.map { try #require(WebhookSecret($0)) }, partitions: 16,
            clock: WallClock { Date(timeIntervalSince1970: Double(Self.now)) }, log: quiet, metrics: Metrics(),
            lookUp: { _ throws(RegistryUnavailable) in
                guard let record = world.record.withLock({ $0 }) else { throw RegistryUnavailable("away") }
                return record
            },
            publish: { message, routingKey, completion in
                if let failure = world.brokerFailure.withLock({ $0 }) { return completion(.failure(failure)) }
                world.published.withLock { $0.append((message, routingKey)) }
                completion(.success(()))
            })
        let server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "events", log: quiet, metrics: Metrics(),
            handler: handler.handle)
        defer { server.close() }
        let client = HTTPClient(userAgent: "test", log: quiet)
        do {
            try await body(
                Post(world: world, client: client, url: "http://127.0.0.1:\(server.port)\(EventsHandler.path)"))
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    @Test func `an event goes to the partition of its user's handle, under the id of its webhook`() async throws {
        try await with { post in
            #expect(try await post().status == 202)
            let event = try #require(try post.world.events.first)
            #expect(event.id == "evt_1" && event.source == "events")
            #expect(event.data.handle == "+12025559876" && !event.data.isPassedOn)
            guard case .custom(let custom) = event.data.content else { return #expect(Bool(false), "not custom") }
            #expect(custom.name == "left_kitchen" && custom.payload == #"{"etaEpoch":1770321000}"#)
            let routingKey = post.world.published.withLock { $0.first?.routingKey }
            #expect(routingKey == Partition.name(Partition.of("+12025559876", among: 16)))
        }
    }

    @Test func `an event goes on with the trace of its sender`() async throws {
        try await with { post in
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let signed = try Self.sign(Self.body, "evt_1", Self.now)
            let headers = signed + [("traceparent", "00-\(trace)-00f067aa0ba902b7-01"), ("tracestate", "one=1")]
            #expect(try await post(headers: headers).status == 202)
            #expect(try await post(id: "evt_2").status == 202)
            let events = try post.world.events
            #expect(events.map { $0.traceparent?.contains(trace) } == [true, false])
            #expect(events.map(\.tracestate) == ["one=1", nil])
            let sent = post.world.published.withLock { $0.map(\.message.headers["traceparent"]) }
            #expect(sent == events.map(\.traceparent))
        }
    }

    @Test func `a user id is asked of the registry`() async throws {
        try await with { post in
            let body = #"{"name":"meal","userID":"user-42"}"#
            #expect(try await post(body).status == 503)
            post.world.record.withLock { $0 = .unknown("") }
            let unknown = try await post(body)
            #expect(unknown.status == 404 && unknown.text.contains("userID"))
            #expect(try post.world.events.isEmpty)
            post.world.record.withLock {
                $0 = RegistryRecord(generation: 1, userID: "user-42", canonicalHandle: "sam@example.com", devices: [])
            }
            #expect(try await post(body).status == 202)
            let event = try #require(try post.world.events.first)
            #expect(event.data.handle == "sam@example.com")
            guard case .custom(let custom) = event.data.content else { return #expect(Bool(false), "not custom") }
            #expect(custom.payload == "{}")
        }
    }

    @Test func `what is malformed is refused with the place and what belongs there`() async throws {
        let cases: [(String, String)] = [
            ("", "a JSON object"), ("[]", "a JSON object"), (#"{"name":"a"}"#, "either handle or userID"),
            (#"{"name":"a","handle":"+12025559876","userID":"u"}"#, "either handle or userID"),
            (#"{"name":"","handle":"+12025559876"}"#, "/name"), (#"{"handle":"+12025559876"}"#, "/name"),
            (#"{"name":"left kitchen","handle":"+12025559876"}"#, "/name"),
            (#"{"name":7,"handle":"+12025559876"}"#, "/name"),
            (#"{"name":"a","handle":"12025559876"}"#, "/handle: expected E.164"),
            (#"{"name":"a","userID":""}"#, "/userID"),
            (#"{"name":"a","userId":"u"}"#, "/userId: expected no such field"),
            (#"{"name":"a","handle":"+12025559876","payload":[1]}"#, "/payload: expected an object"),
            (
                #"{"name":"a","handle":"+12025559876","payload":{"x":""# + String(repeating: "x", count: 65_536)
                    + #""}}"#,
                "/payload: expected at most"
            ),
        ]
        try await with { post in
            for (body, expected) in cases {
                let answer = try await post(body)
                #expect(answer.status == 400, "\(body.prefix(100))")
                #expect(answer.response.header("content-type") == "application/problem+json")
                #expect(answer.text.contains(expected), "\(answer.text)")
            }
            #expect(try post.world.events.isEmpty)
        }
    }

    @Test func `a signature that is wrong, old, missing or of the older scheme is none`() async throws {
        try await with { post in
            var wrong = try Self.sign(Self.body, "evt_1", Self.now)
            wrong[0].value = "evt_2"
            let legacy = HMACKey(Array(Self.secret.utf8)).authenticate(Array("\(Self.now).\(Self.body)".utf8))
            let older = [
                (name: "webhook-id", value: "evt_1"), (name: "X-Webhook-Timestamp", value: "\(Self.now)"),
                (name: "X-Webhook-Signature", value: legacy.hexString),
            ]
            for headers in [wrong, [], older] {
                let answer = try await post(headers: headers)
                #expect(answer.status == 401)
                #expect(answer.response.header("content-type") == "application/problem+json")
            }
            let old = try await post(at: Self.now - 301)
            #expect(old.status == 401 && old.text.contains("five minutes"))
            #expect(try await post(at: Self.now - 300).status == 202)
            #expect(try post.world.events.count == 1)
        }
    }

    @Test func `another method, a broker that is away, and no secret have answers of their own`() async throws {
        try await with { post in
            let get = try await post(method: "PUT")
            #expect(get.status == 405 && get.response.header("allow") == "POST")
            post.world.brokerFailure.withLock { $0 = .notConnected }
            let away = try await post()
            #expect(away.status == 503 && away.response.header("retry-after") == "5")
            #expect(away.response.header("content-type") == "application/problem+json")
        }
        try await with(secrets: []) { post in
            let answer = try await post()
            #expect(answer.status == 404 && answer.text.contains("EVENTS_WEBHOOK_SECRETS"))
        }
    }
}
