import Crypto
import Foundation
import HTTP2
import Runtime
import TestSupport

typealias Certificate = (certificateFile: String, keyFile: String, caFile: String)

let silent = Log(service: "test") { _ in }

/// Our server on a free port, and clients for it; everything is closed whatever happens.
final class TestServer: Sendable {
    let server: HTTP2Server
    let directory: String
    let caFile: String
    private let clients = Locked<[HTTP2Client]>([])

    private init(server: HTTP2Server, directory: String, caFile: String) {
        self.server = server
        self.directory = directory
        self.caFile = caFile
    }

    static func with<R>(
        settings: HTTP2Server.Settings = HTTP2Server.Settings(),
        handler: @escaping @Sendable (HTTP2ServerRequest, HTTP2ServerResponder) -> Void,
        _ body: (TestServer) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let certificate = try makeCertificate(in: directory)
            let server = try HTTP2Server(
                listen: ListenAddress(host: "127.0.0.1", port: 0), certificateFile: certificate.certificateFile,
                keyFile: certificate.keyFile, settings: settings, log: silent, handler: handler)
            let test = TestServer(server: server, directory: directory, caFile: certificate.caFile)
            let result: Result<R, any Error>
            do { result = .success(try await body(test)) } catch { result = .failure(error) }
            for client in test.clients.withLock({ $0 }) { await client.close() }
            await server.close()
            return try result.get()
        }
    }

    func client(_ change: (inout HTTP2Client.Options) -> Void = { _ in }) throws -> HTTP2Client {
        let client = try makeClient(port: server.port, caFile: caFile, change)
        clients.withLock { $0.append(client) }
        return client
    }
}

func makeCertificate(in directory: String, dnsNames: [String] = ["localhost"]) throws -> Certificate {
    try SelfSignedCertificate.write(
        to: directory, commonName: "test", dnsNames: dnsNames, ipAddresses: ["127.0.0.1"])
}

func makeClient(
    host: String = "127.0.0.1", port: UInt16, caFile: String?, metrics: Metrics = Metrics(),
    _ change: (inout HTTP2Client.Options) -> Void = { _ in }
) throws -> HTTP2Client {
    var options = HTTP2Client.Options()
    options.firstPause = .milliseconds(20)
    options.longestPause = .milliseconds(100)
    change(&options)
    return try HTTP2Client(
        host: host, port: port, caFile: caFile, options: options, name: "test", log: silent, metrics: metrics)
}

func post(_ path: String, _ body: [UInt8] = Array("{}".utf8)) -> HTTP2Request {
    HTTP2Request(method: "POST", path: path, headers: [("content-type", "application/json")], body: body)
}

/// Requests that a server has got and not answered.
final class Held: Sendable {
    private let held = Locked<[(request: HTTP2ServerRequest, responder: HTTP2ServerResponder)]>([])
    private let highest = Locked(0)
    private let all = Locked(0)

    var count: Int { held.withLock { $0.count } }
    /// The most that were held at once.
    var most: Int { highest.withLock { $0 } }
    var requests: [HTTP2ServerRequest] { held.withLock { $0.map(\.request) } }

    /// How many there were since the beginning.
    var total: Int { all.withLock { $0 } }

    /// Takes all, and begins to count the most anew.
    func takeAndForget() -> [(request: HTTP2ServerRequest, responder: HTTP2ServerResponder)] {
        highest.withLock { $0 = 0 }
        return takeAll()
    }

    func hold(_ request: HTTP2ServerRequest, _ responder: HTTP2ServerResponder) {
        let count = held.withLock { held in
            held.append((request, responder))
            return held.count
        }
        highest.withLock { $0 = max($0, count) }
        all.withLock { $0 += 1 }
    }

    /// Answers all that are held.
    func answer(status: Int = 200) {
        for (_, responder) in takeAll() { responder.respond(status: status) }
    }

    func takeAll() -> [(request: HTTP2ServerRequest, responder: HTTP2ServerResponder)] {
        held.withLock { held in
            defer { held = [] }
            return held
        }
    }
}

/// The way that a request ended, for tests that compare it.
func outcome(_ send: () async throws -> HTTP2Response) async -> String {
    do { return "\(try await send().status)" } catch let error as HTTP2Error {
        return error.outcome == .notProcessed ? "not processed" : "unknown"
    } catch { return "\(error)" }
}
