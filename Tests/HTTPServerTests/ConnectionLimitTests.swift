import Glibc
import Runtime
import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(3)))
struct ConnectionLimitTests {
    @Test func `connections above the limit wait until another closes`() async throws {
        var limits = HTTPServerLimits()
        limits.maxConnections = 2
        try await withServer(limits: limits, handler: echo) { server in
            let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in clients { try await ask(client) }
            let third = try RawClient(port: server.port)
            try await third.send(get("/"))
            await #expect(throws: NotInTime.self) { try await third.answer(within: .milliseconds(300)) }
            for client in clients { try await ask(client) }
            clients[0].close()
            #expect(try await third.answer().status == 200)
        }
    }

    @Test func `an address has room again when its connections have closed`() async throws {
        var limits = HTTPServerLimits()
        limits.maxConnectionsPerAddress = 2
        let metrics = Metrics()
        try await withServer(limits: limits, metrics: metrics, handler: echo) { server in
            for _ in 0..<20 {
                let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
                for client in clients { try await ask(client) }
                clients.forEach { $0.close() }
                try await eventually("no connection is open") {
                    metrics.render().contains("isthmus_http_connections{server=\"test\"} 0")
                }
            }
        }
    }

    @Test func `every thread gets its share, and none more than it can bear`() {
        var limits = HTTPServerLimits()
        limits.maxConnections = 1000
        limits.maxConnectionsPerAddress = nil
        let places = Places(limits, threads: 2)
        var threads: [Int32: Int] = [:]
        // Even numbers alone, as when another descriptor is opened for each connection.
        for descriptor in stride(from: Int32(10), to: 2010, by: 2) {
            threads[descriptor] = places.take(descriptor, address: "::1")
        }
        #expect(places.isFull)
        let counts = Dictionary(grouping: threads.values) { $0 }.values.map(\.count)
        #expect(counts == Array(repeating: 125, count: 8))
        for (descriptor, thread) in threads where thread == 3 { places.leave(descriptor) }
        #expect(!places.isFull)
        #expect((3000..<3125).allSatisfy { places.take($0, address: "::1") == 3 })
    }

    @Test func `a number that comes again frees the place that it had`() {
        var limits = HTTPServerLimits()
        limits.maxConnectionsPerAddress = 1
        let places = Places(limits, threads: 1)
        #expect(places.take(7, address: "::1") != nil)
        #expect(places.take(8, address: "::1") == nil)
        #expect(places.take(7, address: "::2") != nil)
        #expect(places.take(8, address: "::1") != nil)
        #expect(places.address(of: 7) == "::2")
    }

    @Test func `when accepting fails, the server tries again after a pause, and goes on when it works`() async throws {
        let warnings = Locked<[Double]>([])
        let log = Log(service: "test", level: .warning) { _ in warnings.withLock { $0.append(monotonicSeconds()) } }
        let core = ServerCore(
            name: "test", threads: 1, limits: HTTPServerLimits(), log: log, metrics: Metrics(), handler: echo)
        let daemons = try Daemon.start(1, core: core)
        let socket = try ListeningSocket(ListenAddress(host: "127.0.0.1", port: freePort()))
        // A socket that does not listen stands for all that can be amiss; a want of descriptors ends Dispatch itself.
        shutdown(socket.fileDescriptor, Int32(SHUT_RDWR))
        let acceptor = Acceptor(socket, core, daemons)
        defer {
            acceptor.stop()
            core.startClosing()
            daemons.forEach { $0.stop() }
        }
        try await eventually("it has tried five times") { warnings.withLock { $0.count >= 5 } }
        #expect(warnings.withLock { $0[4] - $0[0] } > 0.39)
        #expect(listen(socket.fileDescriptor, 10) == 0)
        try await ask(RawClient(port: socket.port))
    }
}

private func ask(_ client: RawClient) async throws {
    try await client.send(get("/"))
    #expect(try await client.answer().status == 200)
}
