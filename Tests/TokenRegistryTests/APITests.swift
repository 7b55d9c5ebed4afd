import AMQP
import Database
import Foundation
import HTTPServer
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

@Suite struct APITests {
    static let calls: [(method: String, path: String, body: String?)] = [
        ("GET", "", nil), ("DELETE", "", nil), ("PUT", "/handles", #"{"handles":["+12025550009"]}"#),
        ("PUT", "/devices/phone/start-token", startToken("ee")),
        ("PUT", "/devices/phone/activities", #"{"running":[]}"#),
        ("PUT", "/devices/phone/activities/A", activity("dd")),
        ("DELETE", "/devices/phone/activities/A?reason=dismissed", nil),
    ]

    @Test func `another user's path is not there for a user's token, whatever the call`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb", session: "s1"))
            let before = try await bench.store.user("sam")
            let kim = try bench.signer.token(
                "kim", #","phone_number":"+12025550009","phone_number_verified":true"#, at: bench.clock)
            for call in Self.calls {
                for user in ["sam", "nobody"] {
                    let answer = try await bench.call(call.method, "/v1/users/\(user)\(call.path)", call.body, by: kim)
                    #expect(answer.status == 404, "\(call) of \(user)")
                }
            }
            #expect(try await bench.store.user("sam") == before)
            #expect(try await bench.store.user("nobody") == nil)
        }
    }

    @Test func `ids that Unicode calls equivalent are two users`() async throws {
        try await Bench.with { bench in
            let (one, two) = ("/v1/users/zo%C3%AB", "/v1/users/zoe%CC%88")
            #expect(try await bench.call("PUT", "\(one)/handles", #"{"handles":["+12025559876"]}"#).status == 204)
            #expect(try await bench.call("PUT", "\(one)/devices/p/start-token", startToken("aa")).status == 204)
            let stranger = try bench.signer.token("zoe\u{308}", at: bench.clock)
            #expect(
                try await bench.call("PUT", "\(one)/devices/p/start-token", startToken("bb"), by: stranger).status
                    == 404)
            #expect(try await bench.record("+12025559876").devices.flatMap(\.startTokens).map(\.token) == [token("aa")])
            // A token of one's own path moves here as it does between any two users.
            #expect(
                try await bench.call("PUT", "\(two)/devices/p/start-token", startToken("aa"), by: stranger).status
                    == 204)
            #expect(try await bench.record("+12025559876").devices.isEmpty)
        }
    }

    @Test func `own paths answer a user's token, except the backend's`() async throws {
        try await Bench.with { bench in
            let kim = try bench.signer.token(
                "kim", #","phone_number":"+12025550009","phone_number_verified":true"#, at: bench.clock)
            let expected = [403, 403, 204, 204, 200, 204, 204]
            for (call, status) in zip(Self.calls, expected) {
                let answer = try await bench.call(call.method, "/v1/users/kim\(call.path)", call.body, by: kim)
                #expect(answer.status == status, "\(call): \(answer.text)")
            }
        }
    }

    @Test func `nobody is let in without a credential that is known`() async throws {
        try await Bench.with { bench in
            for call in Self.calls {
                for credential in [nil, "", "wrong-key-of-some-length", "a.b.c"] {
                    let answer = try await bench.call(
                        call.method, "/v1/users/sam\(call.path)", call.body, by: credential)
                    #expect(answer.status == 401)
                    #expect(answer.headers.contains { $0.name == "WWW-Authenticate" })
                }
            }
        }
    }

    @Test func `a backend key registers, shows with shortened tokens, and erases`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let shown = try await bench.call("GET", "/v1/users/sam")
            #expect(shown.status == 200)
            #expect(shown.text.contains(#""token":"aaaaaaaa""#))
            #expect(!shown.text.contains(token("aa")))
            #expect(shown.text.contains("+12025559876"))
            #expect(try await bench.call("DELETE", "/v1/users/sam").status == 204)
            #expect(try await bench.call("GET", "/v1/users/sam").status == 404)
            #expect(try await bench.call("DELETE", "/v1/users/sam").status == 404)
            #expect(try await bench.record("+12025559876") == .unknown("+12025559876"))
        }
    }

    @Test(arguments: [
        #"{"attributesType":"Coach"}"#, #"{"attributesType":"Coach","token":null}"#,
        #"{"attributesType":"Coach","token":""}"#, #"{"attributesType":"Coach","token":"abc"}"#,
        #"{"attributesType":"Coach","token":"zz11223344556677"}"#, #"{"attributesType":"Coach","token":7}"#, "", "[]",
        "{", "null",
    ])
    func `nil or empty token never clears`(body: String) async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb"))
            let before = try await bench.store.user("sam")
            for path in ["start-token", "activities/A"] {
                let answer = try await bench.call("PUT", "/v1/users/sam/devices/phone/\(path)", body)
                #expect(answer.status == 400)
                #expect(answer.headers.contains { $0.value == "application/problem+json" })
            }
            #expect(try await bench.store.user("sam") == before)
        }
    }

    @Test func `bytes that are no text, deep JSON, NUL, huge numbers and line ends are refused, and answered in JSON`()
        async throws
    {
        try await Bench.with { bench in
            let path = "/v1/users/sam/devices/phone/activities"
            let deep = Array(repeating: UInt8(ascii: "["), count: 8000)
            let bodies: [[UInt8]] = [
                Array("{\"running\":[\"".utf8) + [0xC3, 0x28, 0xFF] + Array("\"]}".utf8), deep,
                Array("{\"running\":".utf8) + deep, Array("{\"running\":[\"A\\u0000\"]}".utf8), [0],
                Array("{\"running\":[1e400]}".utf8), Array("{\"running\":[\"A\\r\\nX-Injected: b\"]}".utf8),
                Array("{\"running\":[\"\\uD800\"]}".utf8),
            ]
            for body in bodies {
                let request = try #require(
                    HTTPRequest(
                        method: "PUT", target: path, headers: [("Authorization", "Bearer \(Bench.backendKey)")],
                        body: body))
                let answer = await bench.api.respond(to: request)
                #expect(answer.status == 400, "\(String(decoding: body.prefix(40), as: UTF8.self))")
                _ = try JSONSerialization.jsonObject(with: Data(answer.body))
            }
            let injected = try await bench.call("PUT", "\(path)/A%0D%0AX-Injected:%20b", activity("bb"))
            #expect(injected.status == 400)
            #expect(!injected.headers.contains { $0.name == "X-Injected" || $0.value.contains("Injected") })
            #expect(try await bench.store.user("sam") == nil)
        }
    }

    @Test func `a refusal names where and what is expected`() async throws {
        try await Bench.with { bench in
            let path = "/v1/users/sam/devices/phone/start-token"
            let cases = [
                (startToken("aa", #","environment":"dev""#), "/environment", "sandbox"),
                (#"{"attributesType":"Coach","token":"x"}"#, "/token", "hexadecimal"),
                (#"{"token":"\#(token("aa"))"}"#, "/attributesType", "a value"),
                (startToken("aa", #","timeZone":"""#), "/timeZone", "characters"),
                (startToken("aa", #","locale":"en US""#), "/locale", "characters"),
                (#"{"attributesType":5,"token":"\#(token("aa"))"}"#, "/attributesType", "a string"),
            ]
            for (body, pointer, expected) in cases {
                let answer = try await bench.call("PUT", path, body)
                let problem = try JSONDecoder().decode([String: Field].self, from: Data(answer.body))
                #expect(answer.status == 400)
                #expect(problem["pointer"] == .text(pointer))
                guard case .text(let words)? = problem["expected"] else { throw NoField() }
                #expect(words.contains(expected))
            }
            let handles = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025550001","me"]}"#)
            #expect(handles.text.contains(#""pointer":"/handles/1""#))
            let reason = try await bench.call("DELETE", "/v1/users/sam/devices/phone/activities/A?reason=bored")
            #expect(reason.status == 400)
            #expect(reason.text.contains(#""pointer":"reason""#))
        }
    }

    @Test func `the phone that registered last says where the user is`() async throws {
        try await Bench.with { bench in
            func register(_ device: String, _ digits: String, _ more: String) async throws -> RegistryRecord {
                let path = "/v1/users/sam/devices/\(device)/start-token"
                #expect(try await bench.call("PUT", path, startToken(digits, more)).status == 204)
                bench.clock.advance(by: .seconds(1))
                return try await bench.record("+12025559876")
            }
            try await bench.registerSam()
            #expect(try await bench.record("+12025559876").timeZone == nil)
            let there = #","timeZone":"Asia/Tokyo","locale":"ja_JP""#
            #expect(try await register("phone", "aa", there).timeZone == "Asia/Tokyo")
            let here = #","timeZone":"America/New_York""#
            let both = try await register("tablet", "bb", here)
            #expect(both.timeZone == "America/New_York")
            #expect(both.locale == "ja_JP")
            // An app of an older build says nothing of it, and what was said stays.
            #expect(try await register("phone", "aa", "").timeZone == "Asia/Tokyo")
            let shown = try await bench.call("GET", "/v1/users/sam")
            #expect(shown.text.replacing("\\/", with: "/").contains(#""timeZone":"Asia/Tokyo""#))
        }
    }

    @Test func `tokens may have any even length, and either case`() async throws {
        try await Bench.with { bench in
            for (number, length) in [16, 64, 160, 512].enumerated() {
                let digits = String(repeating: "AB", count: length / 2)
                let answer = try await bench.call(
                    "PUT", "/v1/users/sam/devices/phone\(number)/start-token",
                    #"{"attributesType":"Coach","token":"\#(digits)"}"#)
                #expect(answer.status == 204)
                let stored = try await bench.store.user("sam")?.startTokens.last?.token
                #expect(stored == digits.lowercased())
            }
        }
    }

    @Test func `other methods, paths, sizes and types have their own answers`() async throws {
        try await Bench.with { bench in
            #expect(try await bench.call("POST", "/v1/users/sam").status == 405)
            #expect(try await bench.call("GET", "/v1/users/sam/handles").status == 405)
            #expect(try await bench.call("GET", "/v2/users/sam").status == 404)
            #expect(try await bench.call("GET", "/v1/users/sam/other").status == 404)
            #expect(try await bench.call("GET", "/v1/users/\(String(repeating: "x", count: 129))").status == 400)
            let large = #"{"running":["\#(String(repeating: "x", count: 17_000))"]}"#
            #expect(try await bench.call("PUT", "/v1/users/sam/devices/p/activities", large).status == 413)
            let request = try #require(
                HTTPRequest(
                    method: "PUT", target: "/v1/users/sam/handles",
                    headers: [("Authorization", "Bearer \(Bench.backendKey)"), ("Content-Type", "text/plain")],
                    body: Array("{}".utf8)))
            #expect(await bench.api.respond(to: request).status == 415)
        }
    }

    @Test func `too many calls for one user are put off, another user's are taken`() async throws {
        try await Bench.with(callsPerMinute: 3) { bench in
            for _ in 0..<3 { #expect(try await bench.call("GET", "/v1/users/sam").status == 404) }
            let answer = try await bench.call("GET", "/v1/users/sam")
            #expect(answer.status == 429)
            #expect(answer.headers.contains { $0.name == "Retry-After" && Int($0.value) ?? 0 > 0 })
            #expect(try await bench.call("GET", "/v1/users/kim").status == 404)
        }
    }

    @Test func `a bucket fills with time`() {
        let time = Locked(0.0)
        let limit = RateLimit(perMinute: 2) { time.withLock { $0 } }
        #expect(limit.take("a") == nil)
        #expect(limit.take("a") == nil)
        #expect(limit.take("a") == 30)
        time.withLock { $0 = 30 }
        #expect(limit.take("a") == nil)
        #expect(limit.take("a") == 30)
    }

    @Test func `at launch the app is told what to end`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let path = "/v1/users/sam/devices/phone/activities"
            _ = try await bench.call("PUT", "\(path)/A", activity("bb", session: "s1"))
            _ = try await bench.call("PUT", "\(path)/B", activity("cc", session: "s1"))
            let answer = try await bench.call("PUT", path, #"{"running":["A","B"]}"#)
            #expect(answer.text == #"{"end":["A"]}"#)
            _ = try await bench.call("DELETE", "\(path)/B?reason=dismissed")
            #expect(try await bench.start("s1", generation: 1) != .granted)
            #expect(try await bench.start("s2") == .granted)
            let none = try await bench.call("PUT", path, #"{"running":[]}"#)
            #expect(none.text == #"{"end":[]}"#)
        }
    }

    @Test func `no log line and no metric names a person or holds a token or a credential`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let jwt = try bench.signer.token(
                "kim", #","phone_number":"+12025559876","phone_number_verified":true"#, at: bench.clock)
            _ = try await bench.call("PUT", "/v1/users/kim/handles", #"{"handles":["+12025559876"]}"#, by: jwt)
            _ = try await bench.call("PUT", "/v1/users/kim/devices/p/start-token", "{\(token("aa"))", by: jwt)
            _ = try await bench.call("GET", "/v1/users/sam", by: "wrong-\(Bench.backendKey)")
            _ = await bench.answer(AMQPMessage(id: "x", type: "y", body: Array("+12025559876".utf8)))
            bench.brokerFailure.withLock { $0 = .notConnected }
            _ = try await bench.call("DELETE", "/v1/users/kim")
            _ = try await bench.outbox.workBatch()
            try await bench.database.transaction { try $0.run("DROP TABLE registry_outbox") }
            #expect(
                try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#).status == 503)
            let shown = bench.logLines.withLock { $0.joined() } + bench.metrics.render()
            #expect(shown.contains("call failed"))
            for needle in ["2025559876", token("aa"), "aaaaaaaa", jwt, Bench.backendKey] {
                #expect(!shown.contains(needle))
            }
        }
    }

    @Test func `the description is served and is the one in infra`() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../infra/openapi/token-registry.json").standardizedFileURL
        try await Bench.with { bench in
            let answer = try await bench.call("GET", "/openapi.json", by: nil)
            #expect(answer.status == 200)
            #expect(answer.text == (try String(contentsOf: file, encoding: .utf8)))
            let document = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            let paths = try #require(document?["paths"] as? [String: [String: Any]])
            for (path, operations) in paths {
                let route = try #require(Route(path.split(separator: "/").map(String.init)))
                let methods = Set(operations.keys.map { $0.uppercased() }).subtracting(["PARAMETERS"])
                #expect(methods == Set(route.methods).subtracting(["HEAD"]), "\(path)")
            }
        }
    }
}

private enum Field: Decodable, Equatable {
    case text(String)
    case number(Int)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do { self = .text(try container.decode(String.self)) } catch { self = .number(try container.decode(Int.self)) }
    }
}

private struct NoField: Error {}
