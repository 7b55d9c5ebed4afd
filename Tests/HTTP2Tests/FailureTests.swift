import Crypto
import Foundation
import HTTP2
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct FailureTests {
    @Test func `GOAWAY ends the streams above its last as not processed, the others are answered`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client()
            let tasks = (0..<3).map { number in
                Task { try await client.send(post("/\(number)"), within: .seconds(30)) }
            }
            try await eventually("three requests are there") { held.count == 3 }
            let order = held.requests.map(\.path)
            test.server.goAway(reason: Array(#"{"reason":"Shutdown"}"#.utf8), lastStreamID: 1)

            for path in order.dropFirst() {
                let task = tasks[Int(path.dropFirst()) ?? 0]
                let error = await #expect(throws: HTTP2Error.self) { try await task.value }
                #expect(error?.outcome == .notProcessed)
                #expect(error?.reason.contains(#"{"reason":"Shutdown"}"#) == true)
            }
            async let next = client.send(post("/next"), within: .seconds(30))
            try await eventually("the next request is there") { held.requests.last?.path == "/next" }
            #expect(held.requests.last?.connectionID == 2)
            held.answer()
            #expect(try await next.status == 200)
            #expect(try await tasks[Int(order[0].dropFirst()) ?? 0].value.status == 200)
        }
    }

    @Test func `requests during GOAWAY are all answered or safe to send again`() async throws {
        try await TestServer.with { _, responder in
            responder.respond(status: 200)
        } _: { test in
            let client = try test.client()
            let outcomes = await withTaskGroup(of: String.self) { group in
                for number in 0..<2000 {
                    if number % 500 == 250 { test.server.goAway() }
                    group.addTask { await outcome { try await client.send(post("/"), within: .seconds(30)) } }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(outcomes.contains("200"))
            #expect(!outcomes.contains("unknown"))
        }
    }

    /// A PING frame (RFC 9113, 6.7).
    private static let ping = Array("\0\0\u{8}\u{6}\0\0\0\0\0PING....".utf8)

    @Test func `a connection ends only after the client has read the answers, though it goes on to send`() async throws
    {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let server = test.server
            let statuses = try await RawClient.send(16, to: test, alpn: ["h2"]) {
                while held.count < 16 { usleep(1000) }
                server.goAway()
                // More than the client's half of the connection holds.
                for (_, responder) in held.takeAll() {
                    responder.respond(status: 200, body: [UInt8](repeating: 0, count: 65_000))
                }
                sleep(1)
                return Self.ping
            }
            #expect(statuses == [Int](repeating: 200, count: 16))
        }
    }

    @Test func `a client that goes on to send does not hold a connection that is over`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let server = test.server
            await #expect(throws: TLSError.self, "the connection is reset") {
                try await RawClient.send(1, to: test, alpn: ["h2"], goesOn: true) {
                    while held.count < 1 { usleep(1000) }
                    server.goAway()
                    held.answer()
                    return Self.ping
                }
            }
        }
    }

    @Test func `a refused stream is not processed, another reset is unknown, the connection stays`() async throws {
        let ids = Locked<Set<Int>>([])
        try await TestServer.with { request, responder in
            ids.withLock { _ = $0.insert(request.connectionID) }
            switch request.path {
            case "/refused": responder.reset(7)
            case "/internal": responder.reset(2)
            case "/cancel": responder.reset(8)
            default: responder.respond(status: 200)
            }
        } _: { test in
            let client = try test.client()
            func result(_ path: String) async -> String {
                await outcome { try await client.send(post(path), within: .seconds(30)) }
            }
            #expect(await result("/refused") == "not processed")
            #expect(await result("/internal") == "unknown")
            #expect(await result("/cancel") == "unknown")
            #expect(await result("/") == "200")
            #expect(ids.withLock { $0 } == [1])
        }
    }

    @Test func `a server that never answers costs no more than the deadline`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client()
            let start = ContinuousClock.now
            let error = await #expect(throws: HTTP2Error.self) {
                try await client.send(post("/"), within: .milliseconds(200))
            }
            let elapsed = ContinuousClock.now - start
            #expect(error?.outcome == .unknown)
            #expect(elapsed >= .milliseconds(200))
            #expect(elapsed < .seconds(10), "the deadline, and what a busy machine adds")
            for (_, responder) in held.takeAll() { responder.respond(status: 200) }
            async let next = client.send(post("/next"), within: .seconds(30))
            try await eventually("the next request is there") { held.count == 1 }
            #expect(held.requests.first?.connectionID == 1, "a slow stream does not end the connection")
            held.answer()
            #expect(try await next.status == 200)
        }
    }

    @Test func `a connection that breaks leaves its requests unknown, and the next one goes over a new one`()
        async throws
    {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client()
            async let first = outcome { try await client.send(post("/"), within: .seconds(30)) }
            try await eventually("the request is there") { held.count == 1 }
            test.server.dropConnections()
            #expect(await first == "unknown")
            _ = held.takeAll()
            async let next = outcome { try await client.send(post("/"), within: .seconds(30)) }
            try await eventually("the next request is there") { held.count == 1 }
            #expect(held.requests.first?.connectionID == 2)
            held.answer()
            #expect(await next == "200")
        }
    }

    @Test func `nobody listening is told at once, and forgiven as soon as somebody does`() async throws {
        try await TemporaryDirectory.with { directory in
            let certificate = try makeCertificate(in: directory)
            let port = try freePort()
            let client = try makeClient(port: port, caFile: certificate.caFile)
            let error = await #expect(throws: HTTP2Error.self) {
                try await client.send(post("/"), within: .seconds(30))
            }
            #expect(error?.outcome == .notProcessed)
            #expect(error?.reason.contains("refused") == true)
            #expect(!client.isConnected)
            let server = try HTTP2Server(
                listen: ListenAddress(host: "127.0.0.1", port: port), certificateFile: certificate.certificateFile,
                keyFile: certificate.keyFile, log: silent
            ) { _, responder in responder.respond(status: 200) }
            try await eventually("the server is found") {
                await outcome { try await client.send(post("/"), within: .seconds(30)) } == "200"
            }
            await client.close()
            await server.close()
        }
    }

    @Test func `a host without an address and a server that says nothing are not processed`() async throws {
        let nowhere = try makeClient(host: "no-such-host.invalid", port: 443, caFile: nil)
        #expect(await outcome { try await nowhere.send(post("/"), within: .seconds(30)) } == "not processed")
        await nowhere.close()

        let mute = try MuteListener()
        let client = try makeClient(port: mute.port, caFile: nil) { $0.connectTimeout = .milliseconds(150) }
        let start = ContinuousClock.now
        #expect(await outcome { try await client.send(post("/"), within: .seconds(30)) } == "not processed")
        #expect(ContinuousClock.now - start < .seconds(10))
        let short = await #expect(throws: HTTP2Error.self) {
            try await client.send(post("/"), within: .milliseconds(1))
        }
        #expect(short?.outcome == .notProcessed)
        await client.close()
    }

    @Test func `closing waits for what was sent and refuses the rest`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client { $0.maxConcurrentStreams = 1 }
            async let sent = outcome { try await client.send(post("/"), within: .seconds(30)) }
            try await eventually("the request is there") { held.count == 1 }
            async let queued = outcome { try await client.send(post("/"), within: .seconds(30)) }
            async let closed: Void = client.close()
            #expect(await queued == "not processed")
            #expect(await outcome { try await client.send(post("/"), within: .seconds(30)) } == "not processed")
            held.answer()
            #expect(await sent == "200")
            await closed
            #expect(!client.isConnected)
            await client.close()
        }
    }

    @Test func `a client that is forgotten ends its threads`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let failed = Locked(false)
            var client: HTTP2Client? = try makeClient(port: test.server.port, caFile: test.caFile)
            client?.send(post("/"), within: .seconds(30)) { result in
                if case .failure = result { failed.withLock { $0 = true } }
            }
            try await eventually("the request is there") { held.count == 1 }
            client = nil
            try await eventually("the request has failed") { failed.withLock { $0 } }
        }
    }
}

/// Accepts connections in the kernel and never says anything.
final class MuteListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        port = try freePort()
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { close(descriptor) }
}
