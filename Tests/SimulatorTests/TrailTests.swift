import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import Simulator

/// What the page tells of a text's way.
@Suite struct TrailTests {
    private static let handle = "+12025550123"

    /// The trails of our person, and the words of the newest one's hops.
    private func trails(_ rig: Rig) -> [Trail] {
        rig.server.world.trails.recent(of: [Self.handle, "user-12025550123"])
    }

    private func write(_ rig: Rig) async throws -> (trace: String, chat: String) {
        let posted = try await rig.control("POST", "/texts", ["from": .string(Self.handle), "text": "soup 90 cal"])
        #expect(posted.status == 202)
        let trace = try #require(posted.json["eventID"]?.string).filter { $0 != "-" }
        // What follows would otherwise come between the webhook and its answer.
        try await eventually("it was taken") {
            rig.server.world.trails.trail(trace)?.has(.confirmed, .good) ?? false
        }
        return (trace, try #require(posted.json["chatID"]?.string))
    }

    private func traceparent(_ trace: String) -> String { "00-\(trace)-00f067aa0ba902b7-01" }

    @Test func `a webhook that is refused and sent again is told with the reason`() async throws {
        try await Rig.with { rig in
            rig.services.answer([503])
            _ = try await write(rig)
            let words = try #require(trails(rig).first).hops.map(\.words)
            #expect(words.count == 4)
            #expect(words[0] == "Linq sends the webhook")
            #expect(words[1].hasPrefix("ingress answers 503: Linq tries again in"))
            #expect(words[2] == "Linq sends the webhook again, try 2")
            #expect(words[3] == "ingress answers 200: the broker has confirmed it")
        }
    }

    @Test func `a reply is put to its text by the trace that it carries, also one that is refused or repeated`()
        async throws
    {
        try await Rig.with { rig in
            let (trace, chat) = try await write(rig)
            _ = try await rig.control("POST", "/faults", ["linq": "rate-limited", "retryAfter": 3])
            let message: JSONValue = ["parts": [["type": "text", "value": "Logged."]], "idempotency_key": "reply-1"]
            for expected in [429, 202, 202] {
                let answer = try await rig.linq(
                    "POST", "/chats/\(chat)/messages", ["message": message],
                    headers: [("traceparent", traceparent(trace))])
                #expect(answer.status == expected)
            }
            let replies = try #require(rig.server.world.trails.trail(trace)).hops.filter { $0.step == .replied }
            #expect(replies.map(\.tone) == [.bad, .good, .idle])
            #expect(replies[0].words == "Linq answers 429: come again in 3 s")
            #expect(replies[2].words.contains("the same idempotency key"))
            let number = replies[1].number
            let shown = try await rig.control("GET", "/trails/\(trace)/\(number)")
            #expect(shown.json["message"]?.string?.contains("Logged.") == true)
            #expect(try await rig.control("GET", "/trails/\(trace)/99").status == 404)
        }
    }

    @Test func `a push goes from APNs to the phone on its text's trail; one without a text has a trail of its own`()
        async throws
    {
        try await Rig.with { rig in
            let (trace, _) = try await write(rig)
            let token = try #require(
                rig.server.world.phones.phone("phone-1-user-12025550123")?.startTokens["CoachAttributes"])
            _ = try await rig.push(Rig.start(600), to: token, ["traceparent": traceparent(trace)])
            let hops = try #require(rig.server.world.trails.trail(trace)).hops.suffix(2)
            #expect(hops.map(\.step) == [.pushed, .decoded])
            #expect(hops.map(\.tone) == [.good, .good])
            #expect(hops.last?.message?.contains("\"calories\":600") == true)
            _ = try await rig.push("{\"aps\":{\"event\":\"start\",\"timestamp\":1}}", to: token)
            let own = try #require(trails(rig).last)
            #expect(!own.isText)
            #expect(own.hops.map(\.tone) == [.good, .bad])
            #expect(own.hops.last?.words == "Dropped: a start needs an alert with title and body")
        }
    }

    @Test func `what comes while the phone is offline waits, and is decoded when it is back`() async throws {
        try await Rig.with { rig in
            let (trace, _) = try await write(rig)
            let phone = "phone-1-user-12025550123"
            let token = try #require(rig.server.world.phones.phone(phone)?.startTokens["CoachAttributes"])
            _ = try await rig.control("POST", "/phones/\(phone)/offline")
            let later = "\(Int(Date().timeIntervalSince1970) + 600)"
            _ = try await rig.push(
                Rig.start(600), to: token, ["traceparent": traceparent(trace), "apns-expiration": later])
            #expect(rig.server.world.trails.trail(trace)?.hops.last?.tone == .idle)
            _ = try await rig.control("POST", "/phones/\(phone)/online")
            #expect(rig.server.world.trails.trail(trace)?.has(.decoded, .good) == true)
        }
    }

    @Test func `spans of the services become hops, and what cannot be read is refused`() async throws {
        try await Rig.with { rig in
            let (trace, _) = try await write(rig)
            func export(_ service: String, _ verdict: String) -> JSONValue {
                let attributes: JSONValue = [
                    ["key": "messaging.operation.type", "value": ["stringValue": "process"]],
                    ["key": "isthmus.verdict", "value": ["stringValue": .string(verdict)]],
                    ["key": "messaging.message.body.size", "value": ["intValue": "300"]],
                ]
                let span: JSONValue = [
                    "traceId": .string(trace), "spanId": "00f067aa0ba902b7", "name": "process",
                    "startTimeUnixNano": "1796094410000000000", "endTimeUnixNano": "1796094410004000000",
                    "attributes": attributes,
                ]
                let name: JSONValue = ["key": "service.name", "value": ["stringValue": .string(service)]]
                let resource: JSONValue = [
                    "resource": ["attributes": [name]], "scopeSpans": [["spans": [span]]],
                ]
                return ["resourceSpans": [resource]]
            }
            let json = [(name: "Content-Type", value: "application/json")]
            for (service, verdict) in [("agent", "done"), ("apns-pusher", "superseded"), ("linq-sender", "parked")] {
                let answer = try await rig.send("POST", "/v1/traces", export(service, verdict), headers: json)
                #expect(answer.status == 200)
            }
            let hops = try #require(rig.server.world.trails.trail(trace)).hops
            let taken = hops.filter { $0.step == .taken && $0.tone == .good }
            #expect(taken.count == 1)
            #expect(taken.first?.seconds ?? 0 > 0.003)
            let superseded = hops.filter { $0.step == .pushed && $0.tone == .idle }
            #expect(superseded.first?.words.hasPrefix("Superseded") == true)
            let parked = hops.filter { $0.step == .worked && $0.tone == .bad }
            #expect(parked.map(\.words) == ["linq-sender parks it: it cannot be worked"])
            let answer1 = try await rig.send("POST", "/v1/traces", ["spans": 5], headers: json)
            #expect(answer1.status == 400)
            let answer2 = try await rig.send("POST", "/v1/traces", ["resourceSpans": []], headers: [])
            #expect(answer2.status == 415)
        }
    }

    @Test func `earlier messages are given a stretch at a time`() async throws {
        try await Rig.with(environment: ["SIMULATOR_ONBOARD": "no"]) { rig in
            var chat = ""
            for number in 1...130 {
                let text: JSONValue = [
                    "from": .string(Self.handle), "text": .string("message \(number)"), "echo": true,
                ]
                chat = try await rig.control("POST", "/texts", text).json["chatID"]?.string ?? ""
            }
            let answer = try await rig.control("GET", "/messages?chat=\(chat)&before=110").json
            #expect(answer["first"] == 10)
            #expect(answer["messages"]?.array?.count == 100)
            #expect(answer["messages"]?.array?.last?["text"] == "message 110")
            #expect(try await rig.control("GET", "/messages?chat=\(chat)&before=x").status == 400)
            #expect(trails(rig).isEmpty)
        }
    }

    @Test func `without anybody to start it again, nothing is killed`() async throws {
        try await Rig.with { rig in
            let answer3 = try await rig.control("POST", "/kill", ["service": "agent"])
            #expect(answer3.status == 409)
            let answer4 = try await rig.control("POST", "/agent", ["agent": "order"])
            #expect(answer4.status == 409)
        }
    }

    @Test func `what a person asks for goes through the pipe, one line a command, and nothing else does`() async throws
    {
        try await TemporaryDirectory.with { directory in
            let pipe = directory + "/commands"
            try #require(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDWR)
            defer { close(reader) }
            try await Rig.with(environment: ["SIMULATOR_SUPERVISOR": pipe]) { rig in
                let answer5 = try await rig.control("POST", "/kill", ["service": "agent"])
                #expect(answer5.status == 202)
                let answer6 = try await rig.control("POST", "/agent", ["agent": "order"])
                #expect(answer6.status == 202)
                let answer7 = try await rig.control("POST", "/kill", ["service": "simulator"])
                #expect(answer7.status == 400)
                let answer8 = try await rig.control("POST", "/agent", ["agent": "order\nkill ingress"])
                #expect(answer8.status == 400)
                var bytes = [UInt8](repeating: 0, count: 200)
                let count = read(reader, &bytes, bytes.count)
                #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "kill agent\nagent order\n")
            }
        }
    }

    @Test func `another site's page may not press the buttons`() async throws {
        try await Rig.with { rig in
            let text: JSONValue = ["from": .string(Self.handle), "text": "hi"]
            let foreign = [(name: "Origin", value: "http://elsewhere.example")]
            let answer9 = try await rig.send("POST", "/control/texts", text, headers: foreign)
            #expect(answer9.status == 403)
            let own = [(name: "Origin", value: "http://127.0.0.1:\(rig.server.port)")]
            let answer10 = try await rig.send("POST", "/control/texts", text, headers: own)
            #expect(answer10.status == 202)
        }
    }
}
