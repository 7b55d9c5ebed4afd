import HTTPClient
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct ExchangeTests {
    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func `a request arrives as it was made, and so does the answer`(_ method: String) async throws {
        let seen = Locked<HTTPRequest?>(nil)
        try await withServer(handler: { request, responder in
            seen.withLock { $0 = request }
            responder.respond(
                HTTPResponse(
                    status: 207, headers: [("X-One", "1"), ("X-Many", "a"), ("x-many", "b")],
                    body: request.body + [0, 255]))
        }) { url in
            try await withClient { client in
                let body: [UInt8] = method == "GET" ? [] : [1, 0, 2]
                let response = try await client.send(
                    HTTPClientRequest(
                        method, url + "/a%20b?c=d", headers: [("X-Ask", "é"), ("X-Void", "")], body: body),
                    within: .seconds(30))
                #expect(response.status == 207)
                #expect(response.body == body + [0, 255])
                #expect(response.header("X-ONE") == "1")
                #expect(response.header("x-many") == "a, b")
                #expect(response.header("x-none") == nil)
                let request = try #require(seen.withLock { $0 })
                #expect(request.method == method)
                #expect(request.path == "/a%20b")
                #expect(request.header("x-ask") == "é")
                #expect(request.header("x-void") == "")
                #expect(request.header("user-agent") == "isthmus-test")
                #expect(request.header("content-type") == nil)
                #expect(request.header("expect") == nil)
            }
        }
    }

    @Test func `a HEAD request has no body in its answer`() async throws {
        try await withServer(handler: { $1.respond(.text(200, "12345")) }) { url in
            try await withClient { client in
                let response = try await client.send(HTTPClientRequest("HEAD", url), within: .seconds(30))
                #expect(response.status == 200)
                #expect(response.body == [])
            }
        }
    }

    @Test func `large bodies go both ways`() async throws {
        let body = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(handler: { $1.respond(HTTPResponse(status: 200, body: $0.body)) }) { url in
            try await withClient(maxBody: 4 << 20) { client in
                let response = try await client.send(HTTPClientRequest("POST", url, body: body), within: .seconds(30))
                #expect(response.body == body)
            }
        }
    }

    @Test func `an answer that is too large is cut off`() async throws {
        try await withServer(handler: {
            $1.respond(HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 1001)))
        }) {
            url in
            try await withClient(maxBody: 1000) { client in
                let error = try #require(try await failure(client, HTTPClientRequest("GET", url)))
                #expect(error.words == "the answer is too large")
                #expect(error.phase == .unknownOutcome)
                #expect(!error.isRetryable)
            }
            try await withClient(maxBody: 1001) { client in
                let response = try await client.send(HTTPClientRequest("GET", url), within: .seconds(30))
                #expect(response.body.count == 1001)
            }
        }
    }

    @Test func `a redirect is an answer like any other`() async throws {
        let count = Locked(0)
        try await withServer(handler: { _, responder in
            count.withLock { $0 += 1 }
            responder.respond(HTTPResponse(status: 302, headers: [("Location", "/elsewhere")]))
        }) { url in
            try await withClient { client in
                let response = try await client.send(HTTPClientRequest("GET", url), within: .seconds(30))
                #expect(response.status == 302)
                #expect(response.header("location") == "/elsewhere")
                #expect(count.withLock { $0 } == 1)
            }
        }
    }

    @Test func `two hundred requests at once are all answered, over as many connections as allowed`() async throws {
        let answered = Locked(0)
        let open = Locked((now: 0, most: 0))
        try await withServer(handler: { request, responder in
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
            }
            answered.withLock { $0 += 1 }
            Task {
                try await Task.sleep(for: .milliseconds(5))
                open.withLock { $0.now -= 1 }
                responder.respond(HTTPResponse(status: 200, body: request.body))
            }
        }) { url in
            try await withClient(maxConnectionsPerHost: 8) { client in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            let body = Array("\(index)".utf8)
                            let response = try await client.send(
                                HTTPClientRequest("POST", url, body: body), within: .seconds(30))
                            return response.status == 200 && response.body == body
                        }
                    }
                    for try await isRight in group { #expect(isRight) }
                }
            }
        }
        #expect(answered.withLock { $0 } == 200)
        #expect((2...8).contains(open.withLock { $0.most }))
    }
}
