import HTTPClient
import HTTPServer
import Runtime
import TestSupport
import Testing

/// What one request sets, and what becomes of it, is not the next one's.
@Suite(.timeLimit(.minutes(3)))
struct ReuseTests {
    @Test func `methods, bodies and headers do not leak into the next request`() async throws {
        let seen = Locked<[String]>([])
        try await withServer(handler: { request, responder in
            let fields = ["x-a", "content-type", "content-length"].map { request.header($0) ?? "-" }
            let body = String(decoding: request.body, as: UTF8.self)
            seen.withLock { $0.append(([request.method, body] + fields).joined(separator: " ")) }
            responder.respond(.text(200, "answer"))
        }) { url in
            try await withClient(maxConnectionsPerHost: 1) { client in
                let json = [(name: "Content-Type", value: "application/json"), (name: "X-A", value: "1")]
                let requests = [
                    HTTPClientRequest("POST", url, headers: json, body: Array("long body".utf8)),
                    HTTPClientRequest("GET", url),
                    HTTPClientRequest("HEAD", url),
                    HTTPClientRequest("DELETE", url, headers: [(name: "X-A", value: "2")]),
                    HTTPClientRequest("GET", url),
                    HTTPClientRequest("PUT", url, body: Array("put".utf8)),
                    HTTPClientRequest("POST", url),
                    HTTPClientRequest("HEAD", url),
                    HTTPClientRequest("POST", url, body: Array("b".utf8)),
                ]
                for request in requests {
                    let response = try await client.send(request, within: .seconds(30))
                    #expect(response.status == 200)
                    #expect(response.body == (request.method == "HEAD" ? [] : Array("answer".utf8)))
                }
            }
        }
        #expect(
            seen.withLock { $0 } == [
                "POST long body 1 application/json 9", "GET  - - -", "HEAD  - - -", "DELETE  2 - 0", "GET  - - -",
                "PUT put - - 3", "POST  - - 0", "HEAD  - - -", "POST b - - 1",
            ])
    }

    @Test func `headers of any number and length arrive whole, and go again`() async throws {
        let seen = Locked<[HTTPRequest]>([])
        try await withServer(handler: { request, responder in
            seen.withLock { $0.append(request) }
            responder.respond(.text(200, ""))
        }) { url in
            try await withClient(maxConnectionsPerHost: 1) { client in
                let many = (0..<40).map { (name: "X-\($0)", value: String(repeating: "v", count: $0 * 3)) }
                for headers in [[], many, []] {
                    _ = try await client.send(HTTPClientRequest("POST", url, headers: headers), within: .seconds(30))
                }
            }
        }
        let requests = seen.withLock { $0 }
        for index in 0..<40 {
            #expect(requests[1].header("x-\(index)") == String(repeating: "v", count: index * 3))
        }
        #expect(requests[0].header("x-1") == nil)
        #expect(requests[2].header("x-1") == nil)
    }

    @Test func `what was sent before says nothing of what has not been`() async throws {
        let port = try freePort()
        let server = try RawServer { connection in
            while RawServer.readRequest(connection, upTo: "pay") {
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let body = Array("pay".utf8)
        let good = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: body)
        try await withClient { client in
            #expect(try await client.send(good, within: .seconds(30)).status == 200)
            let refused = try await failure(client, HTTPClientRequest("POST", "http://127.0.0.1:\(port)/", body: body))
            #expect(refused?.phase == .notSent)
            #expect(try await client.send(good, within: .seconds(30)).status == 200)
            let wrong = try await failure(client, HTTPClientRequest("POST", "nonsense://x/", body: body))
            #expect(wrong?.phase == .notSent)
            #expect(try await client.send(good, within: .seconds(30)).status == 200)
            let tooLate = try await failure(client, good, within: .zero)
            #expect(tooLate?.phase == .notSent)
        }
    }

    @Test(arguments: ["POST", "DELETE"], ["", "pay"])
    func `only what changes nothing is sent again when a kept connection ends`(
        _ method: String, _ body: String
    ) async throws {
        let requests = Locked(0)
        let server = try RawServer { connection in
            for index in 0..<2 {
                guard RawServer.readRequest(connection, upTo: "\r\n\r\n" + body) else { return }
                requests.withLock { $0 += 1 }
                guard index == 0 else { return }
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let url = "http://127.0.0.1:\(server.port)/"
        try await withClient { client in
            let request = HTTPClientRequest(method, url, body: Array(body.utf8))
            #expect(try await client.send(request, within: .seconds(30)).status == 200)
            let error = try await failure(client, request)
            #expect(error?.phase == .unknownOutcome)
            #expect(error?.code == 52)
            #expect(error?.isRetryable == true)
            #expect(requests.withLock { $0 } == 2)
        }
    }

    @Test func `a GET is sent again when a kept connection ends under it`() async throws {
        let server = try RawServer { connection in
            for index in 0..<2 {
                guard RawServer.readRequest(connection), index == 0 else { return }
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        try await withClient { client in
            for _ in 0..<2 {
                let request = HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/")
                let response = try await client.send(request, within: .seconds(30))
                #expect(response.status == 200)
            }
            #expect(server.connections == 2)
        }
    }
}
