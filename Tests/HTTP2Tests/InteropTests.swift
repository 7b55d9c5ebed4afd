import Crypto
import Foundation
import HTTP2
import Runtime
import TestSupport
import Testing

/// `curl`, a client that we did not write.
enum Curl {
    static func run(_ arguments: String..., test: TestServer) async throws -> (status: Int32, output: String) {
        let log = "\(test.directory)/curl-\(UUID().uuidString)"
        let process = try LocalProcess.start(
            "/usr/bin/curl", ["-sS", "--max-time", "10", "--cacert", test.caFile] + arguments, environment: [:],
            logFile: log)
        let status = try await process.waitForExit(within: .seconds(30))
        return (status, try String(contentsOfFile: log, encoding: .utf8))
    }
}

/// `nghttpd`, a server that we did not write.
struct NGHTTPD {
    let port: UInt16
    let caFile: String
    let process: LocalProcess

    static func with<R>(_ arguments: String..., body: (NGHTTPD) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let files = try makeCertificate(in: directory)
            try Data("hello".utf8).write(to: URL(fileURLWithPath: "\(directory)/hello"))
            let port = try freePort()
            let process = try LocalProcess.start(
                "/usr/sbin/nghttpd",
                ["-a", "127.0.0.1", "-d", directory] + arguments + ["\(port)", files.keyFile, files.certificateFile],
                environment: [:], logFile: "\(directory)/log")
            defer { process.kill() }
            let server = NGHTTPD(port: port, caFile: files.caFile, process: process)
            let probe = try server.client()
            try await eventually("nghttpd answers") {
                await outcome {
                    try await probe.send(HTTP2Request(method: "GET", path: "/hello"), within: .seconds(30))
                }
                    == "200"
            }
            await probe.close()
            return try await body(server)
        }
    }

    /// Stops the process, and returns once it has stopped: its sockets stay open and nobody answers.
    func freeze() async throws {
        process.signal(SIGSTOP)
        try await eventually("nghttpd has stopped") {
            try String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8).contains(") T ")
        }
    }

    func client(_ change: (inout HTTP2Client.Options) -> Void = { _ in }) throws -> HTTP2Client {
        try makeClient(port: port, caFile: caFile, change)
    }
}

@Suite(.timeLimit(.minutes(3))) struct InteropTests {
    @Test func `nghttpd answers thousands of our requests within its limit of streams`() async throws {
        try await NGHTTPD.with("-m", "20", "--echo-upload") { server in
            let client = try server.client()
            let wrong = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        let body = Array("body \(number)".utf8)
                        return (try? await client.send(post("/", body), within: .seconds(30)))?.body != body
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wrong == 0)
            await client.close()
        }
    }

    @Test func `nghttpd gets and gives large bodies`() async throws {
        try await NGHTTPD.with("--echo-upload") { server in
            let client = try server.client { $0.maxResponseBody = 4 << 20 }
            let body = RandomBytes.make(3 << 20)
            let response = try await client.send(post("/", body), within: .seconds(30))
            #expect(response.body == body)
            await client.close()
        }
    }

    @Test func `an answer that comes before the request has ended is taken`() async throws {
        try await NGHTTPD.with("--early-response") { server in
            let client = try server.client()
            let response = try await client.send(post("/hello", RandomBytes.make(2 << 20)), within: .seconds(30))
            #expect(response.status == 200)
            #expect(response.body == Array("hello".utf8))
            #expect(await outcome { try await client.send(post("/nothing"), within: .seconds(30)) } == "404")
            await client.close()
        }
    }

    @Test func `an idle connection is probed, and one that does not answer is given up`() async throws {
        try await NGHTTPD.with { server in
            let metrics = Metrics()
            let client = try makeClient(port: server.port, caFile: server.caFile, metrics: metrics) {
                $0.pingAfterIdle = .milliseconds(50)
                $0.pingTimeout = .milliseconds(1500)
            }
            let get = HTTP2Request(method: "GET", path: "/hello")
            #expect(await outcome { try await client.send(get, within: .seconds(30)) } == "200")
            // Ten times the idle time: the answers to the PINGs keep the connection.
            try await Task.sleep(for: .milliseconds(500))
            #expect(client.isConnected)
            #expect(metrics.render().contains(#"isthmus_http2_connected_total{client="test"} 1"#))
            try await server.freeze()
            try await eventually("the dead connection is noticed") { !client.isConnected }
            server.process.signal(SIGCONT)
            try await eventually("it works again") {
                await outcome { try await client.send(get, within: .seconds(30)) } == "200"
            }
            await client.close()
        }
    }

    @Test func `a request without an answer on a dead connection has it probed at once`() async throws {
        try await NGHTTPD.with { server in
            let client = try server.client { $0.pingTimeout = .milliseconds(300) }
            let get = HTTP2Request(method: "GET", path: "/hello")
            #expect(await outcome { try await client.send(get, within: .seconds(30)) } == "200")
            try await server.freeze()
            #expect(await outcome { try await client.send(get, within: .milliseconds(100)) } == "unknown")
            try await eventually("the dead connection is noticed") { !client.isConnected }
            server.process.signal(SIGCONT)
            await client.close()
        }
    }

    @Test func `curl speaks with our server`() async throws {
        try await TestServer.with { request, responder in
            responder.respond(
                status: 200, headers: [("x-path", request.path)], body: request.body + Array(" back".utf8))
        } _: { test in
            let url = "https://localhost:\(test.server.port)/a/b"
            let (status, output) = try await Curl.run("--http2", "-i", "-d", "there and", url, test: test)
            #expect(status == 0)
            #expect(output.hasPrefix("HTTP/2 200"))
            #expect(output.contains("x-path: /a/b"))
            #expect(output.hasSuffix("there and back"))
        }
    }

    @Test func `h2load finds no fault in our server`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200, headers: [("content-type", "text/plain")], body: Array("fine".utf8))
        } _: { test in
            let log = "\(test.directory)/h2load"
            let process = try LocalProcess.start(
                "/usr/bin/h2load", ["-n", "5000", "-c", "4", "-m", "50", "https://127.0.0.1:\(test.server.port)/"],
                environment: [:], logFile: log)
            #expect(try await process.waitForExit(within: .seconds(60)) == 0)
            let output = try String(contentsOfFile: log, encoding: .utf8)
            #expect(output.contains("5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(output)")
        }
    }
}
