import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct SlowClientTests {
    /// Patient limits but for those that a test is about: a busy machine is slow too.
    private func limits(
        header: Duration = .seconds(20), body: Duration = .seconds(20), idle: Duration = .seconds(30)
    ) -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.headerTimeout = header
        limits.bodyTimeout = body
        limits.idleTimeout = idle
        return limits
    }

    /// Sends a byte of `text` at a time until the server has enough of it.
    private func trickle(_ text: String, to client: RawClient) async throws -> String {
        for byte in text.utf8 {
            try await client.send([byte])
            try await Task.sleep(for: .milliseconds(20))
            client.poll()
            if let end = try? await client.end(within: .zero) { return end }
        }
        return try await client.end()
    }

    @Test func `headers that do not come are not waited for`() async throws {
        try await withServer(limits: limits(header: .milliseconds(300)), handler: echo) { server in
            let silent = try RawClient(port: server.port)
            #expect(try await silent.end(within: .seconds(30)) == "")
            let stuck = try RawClient(port: server.port)
            try await stuck.send("GET / HTTP/1.1\r\nHost: a\r\n")
            #expect(try await stuck.end(within: .seconds(30)) == "")
        }
    }

    @Test func `headers that trickle are cut off without an answer`() async throws {
        try await withServer(limits: limits(header: .seconds(2)), handler: echo) { server in
            let client = try RawClient(port: server.port)
            #expect(try await trickle(get("/", String(repeating: "X: y\r\n", count: 40)), to: client) == "")
            // The same on a connection that has served a request before.
            let second = try RawClient(port: server.port)
            try await second.send(get("/"))
            #expect(try await second.answer().status == 200)
            try await second.send("GET / HTTP/1.1\r\n")
            #expect(try await trickle(String(repeating: "X: y\r\n", count: 40), to: second) == "")
        }
    }

    @Test func `a body that trickles is cut off without an answer`() async throws {
        let metrics = Metrics()
        try await withServer(limits: limits(body: .milliseconds(300)), metrics: metrics, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 400\r\n\r\n")
            #expect(try await trickle(String(repeating: "x", count: 399), to: client) == "")
            // The client sees its end before the server has counted it.
            try await eventually("the cut is counted") {
                metrics.render().contains("isthmus_http_cut_connections_total{server=\"test\",while=\"body\"} 1")
            }
            try await eventually("none is open") { server.inFlight == 0 }
        }
    }

    @Test func `a slow body that keeps the pace is taken`() async throws {
        var limits = limits(body: .seconds(2))
        limits.minimumBodyRate = 1
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            let body = String(repeating: "x", count: 150)
            // So many at first that a busy machine does not count as a slow client.
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 150\r\n\r\n\(body.prefix(20))")
            for byte in body.utf8.dropFirst(20) {
                try await client.send([byte])
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await client.answer().text == body)
        }
    }

    @Test func `a silent connection is closed`() async throws {
        try await withServer(limits: limits(idle: .milliseconds(300)), handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            #expect(try await client.answer().status == 200)
            #expect(try await client.end(within: .seconds(30)) == "")
        }
    }

    @Test func `a waiting request is not cut off by the client's limits`() async throws {
        let held = Held()
        let limits = limits(header: .milliseconds(800), body: .milliseconds(300), idle: .milliseconds(300))
        try await withServer(limits: limits, handler: held.hold) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            try await eventually("the request is there") { held.count == 1 }
            try await Task.sleep(for: .seconds(1))
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "at last")) }
            #expect(try await client.answer().text == "at last")
        }
    }

    @Test func `a client that does not read its answer is cut off`() async throws {
        let large = [UInt8](repeating: 7, count: 32 << 20)
        let metrics = Metrics()
        var limits = limits(idle: .milliseconds(300))
        limits.minimumBodyRate = 1 << 30
        try await withServer(
            limits: limits, metrics: metrics,
            handler: { _, responder in
                responder.respond(HTTPResponse(status: 200, body: large))
            }
        ) { server in
            let client = try RawClient(port: server.port, receiveBuffer: 4096)
            try await client.send(get("/"))
            try await eventually("the answer is given up") {
                metrics.render().contains("isthmus_http_cut_connections_total{server=\"test\",while=\"sending\"} 1")
            }
            try await eventually("none is open") { server.inFlight == 0 }
            #expect(try await client.end().utf8.count < large.count)
        }
    }
}
