import Glibc
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct LimitTests {
    private var limits: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.maxBody = 1000
        limits.maxHeaderBytes = 2000
        limits.maxHeaderLines = 20
        return limits
    }

    @Test func `a body as large as allowed is taken, in one piece or in chunks`() async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            let body = String(repeating: "x", count: 1000)
            try await client.send(post("/", body))
            #expect(try await client.answer().text == body)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await client.send("1f4\r\n\(body.prefix(500))\r\n1f4\r\n\(body.prefix(500))\r\n0\r\n\r\n")
            #expect(try await client.answer().text == body)
        }
    }

    @Test func `a body that is announced too large is refused before it is sent`() async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n")
            let text = try await client.end()
            #expect(text.hasPrefix("HTTP/1.1 413"))
            #expect(text.contains("Connection: close"))
        }
    }

    @Test func `a body that turns out too large is refused on the way`() async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            let half = String(repeating: "x", count: 600)
            try await client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n258\r\n\(half)\r\n258\r\n\(half)")
            #expect(try await client.end().hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `a client that asks first is told to continue, or refused`() async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try await client.answer().status == 100)
            try await client.send("abc")
            #expect(try await client.answer().text == "abc")
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3000\r\n\r\n")
            #expect(try await client.end().hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test(arguments: [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Content-Length: -3\r\n", "Content-Length: 3a\r\n", "Content-Length: +3\r\n", "Content-Length: 3, 3\r\n",
    ])
    func `a body whose length is not clear is refused`(_ headers: String) async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\n\(headers)\r\n0\r\n\r\n")
            #expect(try await client.end().hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test(arguments: [
        "X-Long: \(String(repeating: "x", count: 3000))\r\n", "X-Long: \(String(repeating: "x", count: 60000))\r\n",
        String(repeating: "X-Many: x\r\n", count: 30), String(repeating: "X-Many: x\r\n", count: 10000),
    ])
    func `headers that are too large or too many are refused`(_ headers: String) async throws {
        try await withServer(limits: limits, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/", headers))
            let text = try await client.end()
            // The library refuses by itself what does not even fit its buffer.
            #expect(text.hasPrefix("HTTP/1.1 431") || text.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `a handler that does not answer is answered for, and its late answer ignored`() async throws {
        var limits = limits
        limits.handlerTimeout = .milliseconds(200)
        let held = Held()
        try await withServer(
            limits: limits,
            handler: { request, responder in
                if request.path == "/now" { echo(request, responder) } else { held.hold(request, responder) }
            }
        ) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/later"))
            let answer = try await client.answer()
            #expect(answer.status == 503)
            #expect(answer.header("Retry-After") == "5")
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "late")) }
            try await client.send(post("/now", "in time"))
            #expect(try await client.answer().text == "in time")
        }
    }

    @Test func `too many requests at once are refused before their body is read`() async throws {
        var limits = limits
        limits.maxInFlight = 2
        limits.retryAfter = .seconds(7)
        let held = Held()
        try await withServer(limits: limits, handler: held.hold) { server in
            let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.send(get("/")) }
            try await eventually("two are there") { held.count == 2 }
            let third = try RawClient(port: server.port)
            try await third.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n")
            let text = try await third.end()
            #expect(text.hasPrefix("HTTP/1.1 503"))
            #expect(text.contains("Retry-After: 7"))
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "done")) }
            for client in clients { #expect(try await client.answer().status == 200) }
            try await eventually("none is open") { server.inFlight == 0 }
            let fourth = try RawClient(port: server.port)
            try await fourth.send(get("/"))
            try await eventually("the next is let in") { held.count == 1 }
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "done")) }
            #expect(try await fourth.answer().status == 200)
        }
    }

    @Test func `many requests that are there at the same moment are all answered`() async throws {
        var limits = limits
        limits.maxConnectionsPerAddress = nil
        limits.headerTimeout = .seconds(20)
        let server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), threads: 1, limits: limits, name: "test", log: quiet,
            metrics: Metrics(),
            handler: { request, responder in
                // Holds up its thread, so that the others gather.
                if request.path == "/hold" { usleep(300_000) }
                echo(request, responder)
            })
        defer { server.close() }
        let clients = try (0..<129).map { _ in try RawClient(port: server.port) }
        for client in clients {
            try await client.send(get("/"))
            #expect(try await client.answer().status == 200)
        }
        for (index, client) in clients.enumerated() { try await client.send(get(index == 0 ? "/hold" : "/")) }
        for client in clients { #expect(try await client.answer().status == 200) }
    }

    @Test func `connections above the limit of one address are closed`() async throws {
        var limits = limits
        limits.maxConnectionsPerAddress = 2
        try await withServer(limits: limits, handler: echo) { server in
            let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in clients {
                try await client.send(get("/"))
                #expect(try await client.answer().status == 200)
            }
            let third = try RawClient(port: server.port)
            try await third.send(get("/"))
            #expect(try await third.end() == "")
            for client in clients {
                try await client.send(get("/"))
                #expect(try await client.answer().status == 200)
            }
        }
    }
}
