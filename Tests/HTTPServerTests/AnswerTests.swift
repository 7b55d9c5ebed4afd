import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct AnswerTests {
    @Test func `a request reaches the handler and its answer the client`() async throws {
        try await withServer(handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(post("/a/b?c=d", "hello", "X-Ask: one\r\nx-ask:  two \r\n"))
            let answer = try await client.answer()
            #expect(answer.status == 200)
            #expect(answer.text == "hello")
            #expect(answer.header("X-Method") == "POST")
            #expect(answer.header("X-Path") == "/a/b")
            #expect(answer.header("X-Asked") == "one, two")
        }
    }

    @Test func `one connection serves many requests`() async throws {
        try await withServer(handler: echo) { server in
            let client = try RawClient(port: server.port)
            for index in 0..<20 {
                try await client.send(post("/", "number \(index)"))
                #expect(try await client.answer().text == "number \(index)")
            }
        }
    }

    @Test func `pipelined requests are answered in order, even when they wait`() async throws {
        let held = Held()
        try await withServer(handler: held.hold) { server in
            let client = try RawClient(port: server.port)
            try await client.send((0..<5).map { post("/", "number \($0)") }.joined())
            for index in 0..<5 {
                try await eventually("request \(index) is there") { held.count == 1 }
                for (request, responder) in held.takeAll() {
                    responder.respond(HTTPResponse(status: 200, body: request.body))
                }
                #expect(try await client.answer().text == "number \(index)")
            }
        }
    }

    @Test func `waiting requests are answered in any order from another thread`() async throws {
        let held = Held()
        try await withServer(handler: held.hold) { server in
            let clients = try (0..<40).map { _ in try RawClient(port: server.port) }
            for (index, client) in clients.enumerated() { try await client.send(post("/", "\(index)")) }
            try await eventually("all are there") { held.count == 40 }
            #expect(server.inFlight == 40)
            for (request, responder) in held.takeAll().shuffled() {
                responder.respond(HTTPResponse(status: 201, body: request.body))
            }
            for (index, client) in clients.enumerated() { #expect(try await client.answer().text == "\(index)") }
            try await eventually("none is open") { server.inFlight == 0 }
        }
    }

    @Test func `an async handler answers`() async throws {
        let server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "test", log: quiet, metrics: Metrics(),
            asyncHandler: { request in
                await Task.yield()
                return .text(200, "async \(request.body.count)")
            })
        defer { server.close() }
        let client = try RawClient(port: server.port)
        try await client.send(post("/", "abc"))
        #expect(try await client.answer().text == "async 3")
    }

    @Test func `only the first answer counts`() async throws {
        let held = Held()
        try await withServer(handler: held.hold) { server in
            let client = try RawClient(port: server.port)
            for _ in 0..<2 {
                try await client.send(get("/"))
                try await eventually("the request is there") { held.count == 1 }
                for (_, responder) in held.takeAll() {
                    responder.respond(.text(200, "first"))
                    responder.respond(.text(200, "second"))
                    responder.abort()
                    #expect(responder.stream(headers: []).isClosed)
                }
                #expect(try await client.answer().text == "first")
            }
        }
    }

    @Test func `a request that is forgotten is answered with 500`() async throws {
        try await withServer(handler: { _, _ in }) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            #expect(try await client.answer().status == 500)
        }
    }

    @Test func `an aborted request ends without an answer`() async throws {
        let held = Held()
        try await withServer(handler: { request, responder in
            if request.path == "/now" { responder.abort() } else { held.hold(request, responder) }
        }) { server in
            let first = try RawClient(port: server.port)
            try await first.send(get("/now"))
            #expect(try await first.end() == "")
            let second = try RawClient(port: server.port)
            try await second.send(get("/later"))
            try await eventually("the request is there") { held.count == 1 }
            for (_, responder) in held.takeAll() { responder.abort() }
            #expect(try await second.end() == "")
        }
    }

    @Test func `a HEAD request gets the headers alone`() async throws {
        try await withServer(handler: { _, responder in responder.respond(.text(200, "12345")) }) { server in
            let client = try RawClient(port: server.port)
            try await client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + "GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.answer(hasBody: false).header("Content-Length") == "5")
            #expect(try await client.answer().text == "12345")
        }
    }

    @Test func `a large answer arrives whole`() async throws {
        let large = [UInt8](repeating: 7, count: 5 << 20)
        try await withServer(handler: { _, responder in responder.respond(HTTPResponse(status: 200, body: large)) }) {
            server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            #expect(try await client.answer().body == large)
        }
    }

    @Test(arguments: ["a\r\nX-Injected: yes", "a\nb", "a\0b", "a\u{7F}"])
    func `a header that would forge another is not sent`(_ value: String) async throws {
        try await withServer(handler: { _, responder in
            responder.respond(HTTPResponse(status: 200, headers: [("X-Value", value)]))
        }) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            let text = try await client.end()
            #expect(text.hasPrefix("HTTP/1.1 500"))
            #expect(!text.contains("X-Injected") && !text.contains("X-Value"))
        }
    }

    @Test func `requests are counted by status, and open connections too`() async throws {
        let metrics = Metrics()
        try await withServer(metrics: metrics, handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/") + get("/%"))
            _ = try await client.answer()
            #expect(try await client.answer().status == 400)
            try await eventually("the connection is closed") {
                metrics.render().contains("isthmus_http_connections{server=\"test\"} 0")
            }
            let text = metrics.render()
            #expect(text.contains("isthmus_http_requests_total{server=\"test\",status=\"200\"} 1\n"))
            #expect(text.contains("isthmus_http_requests_total{server=\"test\",status=\"400\"} 1\n"))
            #expect(text.contains("isthmus_http_request_seconds_count{server=\"test\"} 2\n"))
        }
    }
}
