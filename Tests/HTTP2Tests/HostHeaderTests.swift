import HTTP2
import Runtime
import Testing

@Suite(.timeLimit(.minutes(3))) struct HostHeaderTests {
    @Test func `our server takes the header host in place of the authority`() async throws {
        let got = Locked<HTTP2ServerRequest?>(nil)
        try await TestServer.with { request, responder in
            got.withLock { $0 = request }
            responder.respond(status: 200)
        } _: { test in
            let status = try await RawClient.send(to: test, alpn: ["h2"])
            #expect(status == 200)
            #expect(got.withLock { $0?.authority } == "api.push.apple.com")
        }
    }
}
