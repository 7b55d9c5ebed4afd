import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct AdminServerTests {
    @Test func `health, readiness and metrics are shown`() async throws {
        let metrics = Metrics()
        metrics.counter("isthmus_test_total", "A test.").increment(by: 3)
        let reasons = Locked<[String]>([])
        let server = try AdminServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), log: quiet, metrics: metrics,
            ready: { reasons.withLock { $0 } })
        defer { server.close() }
        let client = try RawClient(port: server.port)
        try await client.send(get("/healthz"))
        #expect(try await client.answer().text == "ok\n")
        try await client.send(get("/readyz"))
        #expect(try await client.answer().text == #"{"ready":true,"reasons":[]}"#)
        reasons.withLock { $0 = ["broker \"away\""] }
        try await client.send(get("/readyz"))
        let answer = try await client.answer()
        #expect(answer.status == 503)
        #expect(answer.text == #"{"ready":false,"reasons":["broker \"away\""]}"#)
        try await client.send(get("/metrics"))
        #expect(try await client.answer().text.contains("\nisthmus_test_total 3\n"))
        try await client.send(get("/other"))
        #expect(try await client.answer().status == 404)
        try await client.send(post("/healthz", ""))
        #expect(try await client.answer().status == 405)
    }

    @Test func `a port in use and a bad address are refused with a reason`() async throws {
        try await withServer(handler: echo) { server in
            let error = #expect(throws: HTTPServerError.self) {
                try HTTPServer(
                    listen: ListenAddress(host: "127.0.0.1", port: server.port), name: "second", log: quiet,
                    metrics: Metrics(), handler: echo)
            }
            #expect(error?.description.contains("in use") == true)
        }
        #expect(throws: HTTPServerError.self) {
            try HTTPServer(
                listen: ListenAddress(host: "nowhere", port: 0), name: "bad", log: quiet, metrics: Metrics(),
                handler: echo)
        }
    }

    @Test func `a server can listen on IPv6`() async throws {
        let server = try HTTPServer(
            listen: ListenAddress(host: "::1", port: 0), name: "six", log: quiet, metrics: Metrics(), handler: echo)
        server.close()
        #expect(server.port != 0)
    }
}
