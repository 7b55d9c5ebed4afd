import Crypto
import Foundation
import HTTP2
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ExchangeTests {
    @Test func `a request arrives whole, and so does its response`() async throws {
        let got = Locked<HTTP2ServerRequest?>(nil)
        try await TestServer.with { request, responder in
            got.withLock { $0 = request }
            responder.respond(status: 410, headers: [("apns-id", "a1"), ("x", "y")], body: Array("gone".utf8))
        } _: { test in
            let client = try test.client()
            var request = post("/3/device/abc?x=1", Array("hello".utf8))
            request.headers += [("authorization", "bearer t"), ("apns-id", "a1"), ("x", "1"), ("x", "2")]
            let response = try await client.send(request, within: .seconds(30))
            #expect(response.status == 410)
            #expect(response.header("apns-id") == "a1")
            #expect(response.headers.map(\.name) == ["apns-id", "x"])
            #expect(response.body == Array("gone".utf8))
            let seen = try #require(got.withLock { $0 })
            #expect(seen.method == "POST")
            #expect(seen.path == "/3/device/abc?x=1")
            #expect(seen.authority == "127.0.0.1:\(test.server.port)")
            #expect(seen.header("authorization") == "bearer t")
            #expect(seen.headers.filter { $0.name == "x" }.map(\.value) == ["1", "2"])
            #expect(seen.body == Array("hello".utf8))
            #expect(client.isConnected)
        }
    }

    @Test func `an empty body and an empty answer are fine`() async throws {
        try await TestServer.with { request, responder in
            responder.respond(status: request.body.isEmpty ? 204 : 400)
        } _: { test in
            let response = try await test.client().send(HTTP2Request(method: "GET", path: "/"), within: .seconds(30))
            #expect(response.status == 204)
            #expect(response.body == [])
        }
    }

    @Test func `thousands of requests at once each get their own answer`() async throws {
        try await TestServer.with { request, responder in
            responder.respond(status: 200, headers: [("path", request.path)], body: request.body)
        } _: { test in
            let client = try test.client()
            let wrong = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<3000 {
                    group.addTask {
                        let request = post("/\(number)", Array("body \(number)".utf8))
                        let response = try? await client.send(request, within: .seconds(30))
                        return response?.header("path") != "/\(number)" || response?.body != request.body
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wrong == 0)
        }
    }

    @Test func `bodies far beyond the flow-control windows pass both ways`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxBody = 4 << 20
        try await TestServer.with(settings: settings) { request, responder in
            responder.respond(status: 200, body: request.body.reversed())
        } _: { test in
            let client = try test.client { $0.maxResponseBody = 4 << 20 }
            let bodies = (0..<4).map { _ in RandomBytes.make(3 << 20) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for body in bodies {
                    group.addTask {
                        let response = try await client.send(post("/", body), within: .seconds(30))
                        #expect(response.body == body.reversed())
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `an answer that is too large is not read`() async throws {
        try await TestServer.with { request, responder in
            let isHeader = request.path == "/header"
            responder.respond(
                status: 200, headers: isHeader ? [("x", String(repeating: "h", count: 20_000))] : [],
                body: isHeader ? [] : Array(repeating: 1, count: 10_001))
        } _: { test in
            let client = try test.client { $0.maxResponseBody = 10_000 }
            for path in ["/body", "/header"] {
                let error = await #expect(throws: HTTP2Error.self) {
                    try await client.send(post(path), within: .seconds(30))
                }
                #expect(error?.outcome == .unknown)
                #expect(
                    error?.reason.contains("have more than") == true || error?.reason.contains("has more than") == true)
            }
        }
    }

    @Test func `a request with a body over the server's limit is reset, others go on`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxBody = 1000
        try await TestServer.with(settings: settings) { request, responder in
            responder.respond(status: 200)
        } _: { test in
            let client = try test.client()
            #expect(
                await outcome {
                    try await client.send(post("/", Array(repeating: 1, count: 1001)), within: .seconds(30))
                } == "unknown")
            #expect(
                await outcome {
                    try await client.send(post("/", Array(repeating: 1, count: 1000)), within: .seconds(30))
                } == "200")
        }
    }

    @Test func `what HTTP-2 does not allow is refused before it is sent`() async throws {
        let count = Locked(0)
        try await TestServer.with { _, responder in
            count.withLock { $0 += 1 }
            responder.respond(status: 200)
        } _: { test in
            let client = try test.client()
            for (name, value) in [("x", "a\r\nb: c"), ("a b", "1"), (":path", "/"), ("", "1"), ("x", "a\0")] {
                var request = post("/")
                request.headers.append((name, value))
                #expect(await outcome { try await client.send(request, within: .seconds(30)) } == "not processed")
            }
            #expect(await outcome { try await client.send(post("/a b"), within: .seconds(30)) } == "not processed")
            #expect(await outcome { try await client.send(post("/"), within: .seconds(30)) } == "200")
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `several connections share the work`() async throws {
        let used = Locked<[Int: Int]>([:])
        try await TestServer.with { request, responder in
            used.withLock { $0[request.connectionID, default: 0] += 1 }
            responder.respond(status: 200)
        } _: { test in
            let client = try test.client { $0.connections = 3 }
            client.connect()
            for _ in 0..<300 { _ = try await client.send(post("/"), within: .seconds(30)) }
            try await eventually("all connections were used") {
                _ = try await client.send(post("/"), within: .seconds(30))
                return used.withLock { $0.count } == 3
            }
        }
    }

    @Test func `requests are counted by how they ended`() async throws {
        let metrics = Metrics()
        try await TestServer.with { request, responder in
            if request.path == "/reset" { responder.reset(2) } else { responder.respond(status: 500) }
        } _: { test in
            let client = try makeClient(port: test.server.port, caFile: test.caFile, metrics: metrics)
            for path in ["/", "/", "/reset"] {
                _ = await outcome { try await client.send(post(path), within: .seconds(30)) }
            }
            #expect(metrics.render().contains(#"isthmus_http2_connections{client="test"} 1.0"#))
            await client.close()
            let text = metrics.render()
            #expect(text.contains(#"isthmus_http2_requests_total{client="test",outcome="answered"} 2"#))
            #expect(text.contains(#"isthmus_http2_requests_total{client="test",outcome="unknown"} 1"#))
            #expect(text.contains(#"isthmus_http2_in_flight{client="test"} 0.0"#))
            #expect(text.contains(#"isthmus_http2_connections{client="test"} 0.0"#))
        }
    }
}
