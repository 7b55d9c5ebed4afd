import Crypto
import HTTP2
import Testing

/// What a client offers by ALPN, and what our server says to that.
@Suite(.timeLimit(.minutes(3))) struct OfferTests {
    @Test(arguments: [[], ["h2"], ["http/1.1", "h2"]])
    func `a client that offers HTTP/2, or nothing, is served`(_ alpn: [String]) async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            let status = try await RawClient.send(to: test, alpn: alpn)
            #expect(status == 200)
        }
    }

    @Test func `a client that offers something else alone is refused`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            _ = await #expect(throws: TLSError.self) { try await RawClient.send(to: test, alpn: ["http/1.1"]) }
        }
    }
}
