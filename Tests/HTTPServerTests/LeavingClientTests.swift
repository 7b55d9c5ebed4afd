import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct LeavingClientTests {
    @Test(arguments: [false, true])
    func `clients that leave while their request waits do no harm`(_ byReset: Bool) async throws {
        let held = Held()
        let metrics = Metrics()
        try await withServer(metrics: metrics, handler: held.hold) { server in
            for _ in 0..<3 {
                try await leave(server, held, byReset)
                try await eventually("none is open") { server.inFlight == 0 }
                try await eventually("no connection is open") {
                    metrics.render().contains("isthmus_http_connections{server=\"test\"} 0")
                }
            }
        }
    }

    private func leave(_ server: HTTPServer, _ held: Held, _ byReset: Bool) async throws {
        let clients = try (0..<30).map { _ in try RawClient(port: server.port) }
        for client in clients {
            if byReset { client.resetAtEnd() }
            try await client.send(post("/", "x"))
        }
        try await eventually("all are there") { held.count == 30 }
        clients.forEach { $0.close() }
        for (_, responder) in held.takeAll() { responder.respond(.text(200, String(repeating: "y", count: 100_000))) }
    }

    @Test func `a client that leaves in the middle of its request does no harm`() async throws {
        var limits = HTTPServerLimits()
        limits.headerTimeout = .seconds(2)
        limits.bodyTimeout = .milliseconds(300)
        try await withServer(limits: limits, handler: echo) { server in
            for part in [
                "G", "GET / HT", "GET / HTTP/1.1\r\nHos", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
            ] {
                let client = try RawClient(port: server.port)
                try await client.send(part)
                client.close()
            }
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            #expect(try await client.answer().status == 200)
            try await eventually("none is open") { server.inFlight == 0 }
        }
    }

    @Test func `the request in hand is finished, and new ones are refused`() async throws {
        let held = Held()
        try await withServer(handler: held.hold) { server in
            let client = try RawClient(port: server.port)
            let idle = try RawClient(port: server.port)
            try await client.send(post("/", "x"))
            try await eventually("the request is there") { held.count == 1 }
            server.stopAccepting()
            #expect(throws: RawClient.Broken.self) { try RawClient(port: server.port) }
            await server.drain(within: .milliseconds(50))
            #expect(server.inFlight == 1)
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "done")) }
            await server.drain(within: .seconds(30))
            #expect(server.inFlight == 0)
            let answer = try await client.answer()
            #expect(answer.text == "done")
            #expect(answer.header("Connection") == "close")
            #expect(try await client.end() == "")
            server.close()
            #expect(try await idle.end() == "")
        }
    }

    @Test func `closing ends waiting requests and streams without an answer`() async throws {
        let held = Held()
        try await withServer(handler: held.hold) { server in
            let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
            for (index, client) in clients.enumerated() { try await client.send(get("/\(index)")) }
            try await eventually("all are there") { held.count == 20 }
            let all = held.takeAll()
            let first = try #require(all.first { $0.request.path == "/0" })
            let stream = first.responder.stream(headers: [("Content-Type", "text/event-stream")])
            stream.write(Array("data: 1\n\n".utf8))
            try await clients[0].wait(for: "data: 1")
            server.close()
            server.close()
            for client in clients[1...] { #expect(try await client.end() == "") }
            #expect(stream.isClosed)
            for (_, responder) in all { responder.respond(.text(200, "too late")) }
            stream.write([1])
        }
    }

    @Test func `a thousand requests that all wait leave nothing behind`() async throws {
        let metrics = Metrics()
        try await withServer(
            metrics: metrics,
            handler: { request, responder in
                Task { responder.respond(HTTPResponse(status: 200, body: request.body)) }
            }
        ) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<10 {
                    group.addTask {
                        let client = try RawClient(port: server.port)
                        for index in 0..<100 {
                            try await client.send(post("/", "\(worker)-\(index)"))
                            #expect(try await client.answer().text == "\(worker)-\(index)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await eventually("all are counted") {
                metrics.render().contains("isthmus_http_requests_total{server=\"test\",status=\"200\"} 1000\n")
            }
            try await eventually("nothing is open") {
                server.inFlight == 0 && metrics.render().contains("isthmus_http_connections{server=\"test\"} 0")
            }
        }
    }
}
