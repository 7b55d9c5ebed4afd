import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct MalformedRequestTests {
    @Test(arguments: [
        "/%", "/%4", "/%zz", "/a%2", "/?a=%", "/?a=%g1", "/%00", "/?a=%00", "/%ff", "/%c3%28", "/\u{E4}", "/a\u{1}",
        "/a\u{7F}", "http:///", "a", "/a\0b", "/a?b\0c",
    ])
    func `a malformed target is refused`(_ target: String) async throws {
        try await withServer(handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(get(target))
            #expect(try await client.end().hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "GET / / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET\r\n\r\n",
        "\0\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    ])
    func `what is not a request is not answered as one`(_ text: String) async throws {
        try await withServer(handler: echo) { server in
            let client = try RawClient(port: server.port)
            try await client.send(text)
            let answer = try await client.end()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(answer)")
        }
    }

    @Test func `noise does not bring the server down`() async throws {
        var limits = HTTPServerLimits()
        limits.headerTimeout = .seconds(3)
        limits.maxConnectionsPerAddress = nil
        var random = SystemRandomNumberGenerator()
        try await withServer(limits: limits, handler: echo) { server in
            let valid = Array(post("/a?b=%20c", "hello", "X-A: b\r\n").utf8)
            for _ in 0..<300 {
                let client = try RawClient(port: server.port)
                var bytes = valid
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                try await client.send(bytes)
                client.poll()
            }
            let client = try RawClient(port: server.port)
            try await client.send(get("/"))
            #expect(try await client.answer().status == 200)
            try await eventually("none is open") { server.inFlight == 0 }
        }
    }

    @Test func `segments and parameters are decoded one by one`() throws {
        let request = try #require(HTTPRequest(method: "GET", target: "/v1/a%2Fb/%C3%A4//?x=1+2&y=%26&z&x=%3D=&%41=b"))
        #expect(request.segments == ["v1", "a/b", "ä", "", ""])
        #expect(request.query.map(\.name) == ["x", "y", "z", "x", "A"])
        #expect(request.query.map(\.value) == ["1 2", "&", "", "==", "b"])
        #expect(HTTPRequest(method: "GET", target: "/")?.segments == [])
        #expect(HTTPRequest(method: "GET", target: "http://host:1/a?b=c")?.path == "/a")
        #expect(HTTPRequest(method: "GET", target: "a") == nil)
    }

    @Test func `headers are found in any case`() throws {
        let request = try #require(
            HTTPRequest(
                method: "GET", target: "/", headers: [("Webhook-ID", " a "), ("x", "1"), ("X", "2"), ("Empty", "")]))
        #expect(request.header("webhook-id") == "a")
        #expect(request.header("x") == "1, 2")
        #expect(request.header("empty") == "")
        #expect(request.header("webhook") == nil)
        #expect(request.headers.map(\.name) == ["Webhook-ID", "x", "X", "Empty"])
    }
}
