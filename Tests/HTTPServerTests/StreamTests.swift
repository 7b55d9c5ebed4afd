import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct StreamTests {
    /// Opens a stream to a client and hands both to `body`.
    private func withStream(
        limits: HTTPServerLimits = HTTPServerLimits(), receiveBuffer: Int32? = nil,
        _ body: (HTTPBodyStream, RawClient, HTTPServer) async throws -> Void
    ) async throws {
        let streams = Locked<[HTTPBodyStream]>([])
        try await withServer(
            limits: limits,
            handler: { _, responder in
                let stream = responder.stream(headers: [("Content-Type", "text/event-stream")])
                streams.withLock { $0.append(stream) }
            }
        ) { server in
            let client = try RawClient(port: server.port, receiveBuffer: receiveBuffer)
            try await client.send(get("/events"))
            try await eventually("the stream is open") { streams.withLock { $0.count } == 1 }
            let stream = try #require(streams.withLock { $0.first })
            try await body(stream, client, server)
        }
    }

    @Test func `what is written arrives while the stream is open`() async throws {
        try await withStream { stream, client, server in
            for index in 0..<50 {
                stream.write(Array("data: \(index)\n\n".utf8))
                try await client.wait(for: "data: \(index)\n\n")
            }
            #expect(!stream.isClosed)
            #expect(client.text.hasPrefix("HTTP/1.1 200"))
            #expect(client.text.contains("text/event-stream"))
            stream.close()
            #expect(try await client.end().hasSuffix("0\r\n\r\n"))
            try await eventually("none is open") { server.inFlight == 0 }
        }
    }

    @Test func `a stream written and closed before the answer is begun arrives whole`() async throws {
        try await withServer(handler: { _, responder in
            let stream = responder.stream(headers: [])
            stream.write(Array("abc".utf8))
            stream.close()
            stream.write(Array("not this".utf8))
        }) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            let text = try await client.end()
            #expect(text.hasSuffix("3\r\nabc\r\n0\r\n\r\n"))
        }
    }

    @Test func `a stream ends when its client leaves, though nothing is written`() async throws {
        try await withStream { stream, client, server in
            let closed = Locked(0)
            stream.onClose { closed.withLock { $0 += 1 } }
            stream.write([1])
            client.close()
            try await eventually("the stream is closed") { stream.isClosed && closed.withLock { $0 } == 1 }
            try await eventually("none is open") { server.inFlight == 0 }
            stream.onClose { closed.withLock { $0 += 1 } }
            #expect(closed.withLock { $0 } == 2)
        }
    }

    @Test func `a client that does not read its stream is cut off`() async throws {
        var limits = HTTPServerLimits()
        limits.maxStreamBacklog = 64 << 10
        try await withStream(limits: limits, receiveBuffer: 4096) { stream, client, server in
            let part = [UInt8](repeating: 65, count: 48 << 10)
            try await eventually("the backlog is full") {
                stream.write(part)
                return stream.isClosed
            }
            try await eventually("none is open") { server.inFlight == 0 }
            #expect(!(try await client.end().hasSuffix("0\r\n\r\n")))
        }
    }
}
