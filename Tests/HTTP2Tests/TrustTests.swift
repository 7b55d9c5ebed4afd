import Foundation
import HTTP2
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct TrustTests {
    private func refusal(_ client: HTTP2Client) async -> HTTP2Error? {
        defer { client.connect() }
        return await #expect(throws: HTTP2Error.self) { try await client.send(post("/"), within: .seconds(30)) }
    }

    @Test func `a certificate of an authority that we do not know is refused`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            try await TemporaryDirectory.with { directory in
                let other = try makeCertificate(in: directory)
                for caFile in [other.caFile, nil] {
                    let client = try makeClient(port: test.server.port, caFile: caFile)
                    let error = await refusal(client)
                    #expect(error?.outcome == .notProcessed)
                    #expect(error?.reason.contains("certificate verify failed") == true, "\(error?.reason ?? "")")
                    await client.close()
                }
            }
        }
    }

    @Test func `a certificate for another name is refused, by name and by address`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            let good = try makeClient(host: "localhost", port: test.server.port, caFile: test.caFile)
            #expect(await outcome { try await good.send(post("/"), within: .seconds(30)) } == "200")
            await good.close()
        }
        try await TemporaryDirectory.with { directory in
            let files = try makeCertificate(in: directory, dnsNames: ["other.test"])
            let server = try HTTP2Server(
                listen: .init(host: "127.0.0.1", port: 0), certificateFile: files.certificateFile,
                keyFile: files.keyFile, log: silent
            ) { _, responder in responder.respond(status: 200) }
            let client = try makeClient(host: "localhost", port: server.port, caFile: files.caFile)
            let error = await refusal(client)
            #expect(error?.outcome == .notProcessed)
            #expect(error?.reason.contains("ostname mismatch") == true, "\(error?.reason ?? "")")
            await client.close()
            await server.close()
        }
        try await TemporaryDirectory.with { directory in
            let files = try makeCertificate(in: directory)
            let server = try HTTP2Server(
                listen: .init(host: "127.0.0.2", port: 0), certificateFile: files.certificateFile,
                keyFile: files.keyFile, log: silent
            ) { _, responder in responder.respond(status: 200) }
            let client = try makeClient(host: "127.0.0.2", port: server.port, caFile: files.caFile)
            let error = await refusal(client)
            #expect(error?.outcome == .notProcessed)
            #expect(error?.reason.contains("IP address mismatch") == true, "\(error?.reason ?? "")")
            await client.close()
            await server.close()
        }
    }

    @Test(arguments: [["-alpn", "http/1.1"], []])
    func `a server that does not agree on h2 is refused`(alpn: [String]) async throws {
        try await TemporaryDirectory.with { directory in
            let files = try makeCertificate(in: directory)
            let port = try freePort()
            let server = try LocalProcess.start(
                "/usr/bin/openssl",
                [
                    "s_server", "-accept", "127.0.0.1:\(port)", "-cert", files.certificateFile, "-key", files.keyFile,
                    "-quiet",
                ]
                    + alpn, environment: [:], logFile: "\(directory)/log")
            defer { server.kill() }
            let client = try makeClient(port: port, caFile: files.caFile)
            var error: HTTP2Error?
            try await eventually("the server listens") {
                do {
                    _ = try await client.send(post("/"), within: .seconds(30))
                    return true
                } catch let thrown as HTTP2Error {
                    error = thrown
                    return !thrown.reason.contains("refused")
                }
            }
            #expect(error?.outcome == .notProcessed)
            #expect(
                error?.reason.contains("does not speak HTTP/2") == true
                    || error?.reason.contains("no application protocol") == true,
                "\(error?.reason ?? "answered")")
            await client.close()
        }
    }

    @Test func `a client that does not offer h2 is refused by our server`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            let status = try await Curl.run("--http1.1", "https://127.0.0.1:\(test.server.port)/", test: test).status
            #expect(status != 0)
            #expect(await outcome { try await test.client().send(post("/"), within: .seconds(30)) } == "200")
        }
    }
}
