import Foundation
import HTTPClient
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct FailureTests {
    @Test func `nobody listens: not sent`() async throws {
        let port = try freePort()
        try await withClient { client in
            let error = try #require(
                try await failure(client, HTTPClientRequest("POST", "http://127.0.0.1:\(port)/", body: [1])))
            #expect(error.phase == .notSent)
            #expect(error.code == 7)
            #expect(error.isRetryable)
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "nonsense", "", "http://", "gopher://127.0.0.1:70/"])
    func `a URL of another kind is not sent`(_ url: String) async throws {
        try await withClient { client in
            let error = try #require(try await failure(client, HTTPClientRequest("GET", url)))
            #expect(error.phase == .notSent)
        }
    }

    @Test func `a name that does not exist is not sent`() async throws {
        try await withClient { client in
            let error = try #require(try await failure(client, HTTPClientRequest("GET", "http://name.invalid/")))
            #expect(error.phase == .notSent)
        }
    }

    @Test(arguments: [
        ("X-A", "b\r\nX-Forged: 1"), ("X-A", "b\nc"), ("X A", "b"), ("X:A", "b"), ("", "b"), ("X-A", "\0"),
    ])
    func `a header that would forge another is not sent`(_ header: (String, String)) async throws {
        try await withServer(handler: { $1.respond(.text(200, "")) }) { url in
            try await withClient { client in
                let request = HTTPClientRequest("GET", url, headers: [(header.0, header.1)])
                let error = try #require(try await failure(client, request))
                #expect(error.phase == .notSent)
                #expect(!error.isRetryable)
            }
        }
    }

    @Test func `no answer in time: outcome unknown`() async throws {
        let server = try RawServer { RawServer.waitForEnd($0) }
        try await withClient { client in
            let start = ContinuousClock.now
            let error = try #require(
                try await failure(
                    client, HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: [1]),
                    within: .milliseconds(300)))
            #expect(error.phase == .unknownOutcome)
            #expect(error.code == 28)
            #expect(ContinuousClock.now - start < .seconds(15))
        }
    }

    @Test func `no free connection in time: not sent`() async throws {
        let server = try RawServer { RawServer.waitForEnd($0) }
        let url = "http://127.0.0.1:\(server.port)/"
        try await withClient(maxConnectionsPerHost: 1) { client in
            async let first = failure(client, HTTPClientRequest("GET", url), within: .seconds(3))
            try await eventually("the first is sent") { server.connections == 1 }
            let second = try #require(
                try await failure(client, HTTPClientRequest("GET", url), within: .milliseconds(200)))
            #expect(second.phase == .notSent)
            #expect(second.code == 28)
            #expect(try await first?.phase == .unknownOutcome)
        }
    }

    @Test(
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", "not HTTP at all\r\n\r\n",
        ], [true, false])
    func `an answer that breaks off: outcome unknown`(_ part: String, _ byReset: Bool) async throws {
        let server = try RawServer { connection in
            RawServer.readRequest(connection, upTo: "body")
            RawServer.write(connection, part)
            if byReset { RawServer.resetAtClose(connection) }
        }
        try await withClient { client in
            let error = try await failure(
                client, HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("body".utf8)))
            #expect(error?.phase == .unknownOutcome)
        }
    }

    @Test func `a request is not sent twice when a kept connection ends under it`() async throws {
        let requests = Locked(0)
        let server = try RawServer { connection in
            for index in 0..<2 {
                guard RawServer.readRequest(connection, upTo: "pay") else { return }
                requests.withLock { $0 += 1 }
                guard index == 0 else { return }
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("pay".utf8))
        try await withClient { client in
            #expect(try await client.send(request, within: .seconds(30)).status == 200)
            let error = try await failure(client, request)
            #expect(error?.phase == .unknownOutcome)
            #expect(requests.withLock { $0 } == 2)
        }
    }

    @Test func `a server that ends without a word between requests costs none`() async throws {
        let server = try RawServer { connection in
            RawServer.readRequest(connection)
            RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        try await withClient { client in
            for count in 1...5 {
                let response = try await client.send(
                    HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"), within: .seconds(30))
                #expect(response.status == 200)
                #expect(server.connections == count)
            }
        }
    }

    @Test func `an authority that is not known: not sent`() async throws {
        try await withTLSServer { url, certificate in
            try await withClient { client in
                let error = try #require(try await failure(client, HTTPClientRequest("POST", url, body: [1])))
                #expect(error.phase == .notSent)
                #expect(error.code == 60)
                #expect(!error.isRetryable)
            }
            try await withClient(caFile: certificate) { client in
                #expect(try await client.send(HTTPClientRequest("GET", url), within: .seconds(30)).status == 200)
                let other = url.replacingOccurrences(of: "localhost", with: "127.0.0.1")
                let error = try #require(try await failure(client, HTTPClientRequest("GET", other)))
                #expect(error.phase == .notSent)
            }
            try await withClient(caFile: "/nowhere.pem") { client in
                let error = try #require(try await failure(client, HTTPClientRequest("GET", url)))
                #expect(error.phase == .notSent)
            }
        }
    }

    /// Runs `openssl s_server -www` with a certificate for `localhost` that nobody knows.
    private func withTLSServer(_ body: (_ url: String, _ certificate: String) async throws -> Void) async throws {
        try await TemporaryDirectory.with { folder in
            let path = ["PATH": "/usr/bin:/bin"]
            let log = folder + "/log"
            let maker = try LocalProcess.start(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out",
                    "cert.pem",
                ], environment: path, workingDirectory: folder, logFile: log)
            #expect(try await maker.waitForExit(within: .seconds(30)) == 0)
            let port = try freePort()
            let server = try LocalProcess.start(
                "openssl",
                ["s_server", "-accept", "127.0.0.1:\(port)", "-key", "key.pem", "-cert", "cert.pem", "-www"],
                environment: path, workingDirectory: folder, logFile: log)
            try await eventually("the server listens") {
                try String(contentsOfFile: log, encoding: .utf8).contains("ACCEPT")
            }
            try await body("https://localhost:\(port)/", folder + "/cert.pem")
            server.terminate()
            _ = try await server.waitForExit(within: .seconds(30))
        }
    }
}
