import Foundation
import Glibc
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct StopTests {
    @Test func `servers that are stopped under load finish what they have, two hundred times in a row`() async throws {
        for _ in 0..<200 { try await stopUnderLoad() }
    }

    @Test func `stopping twice, and from many threads, is stopping`() async throws {
        try await withServer(handler: echo) { server in
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        server.stopAccepting()
                        #expect(throws: RawClient.Broken.self) { try RawClient(port: server.port) }
                    }
                }
            }
            server.stopAccepting()
        }
    }
}

/// One server's life, with clients that connect until the last moment.
private func stopUnderLoad() async throws {
    let held = Held()
    var limits = HTTPServerLimits()
    limits.maxConnections = 250
    limits.maxConnectionsPerAddress = nil
    try await withServer(
        limits: limits,
        handler: { request, responder in
            if request.path == "/held" { held.hold(request, responder) } else { echo(request, responder) }
        }
    ) { server in
        let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
        for client in clients { try await client.send(get("/held")) }
        try await eventually("all are there") { held.count == clients.count }
        let knocking = (0..<2).map { _ in knock(on: server.port) }
        try await eventually("the server is busy") { knocking.allSatisfy { $0.withLock { $0 } > 5 } }
        server.stopAccepting()
        #expect(throws: RawClient.Broken.self) { try RawClient(port: server.port) }
        for (_, responder) in held.takeAll() { responder.respond(.text(200, "done")) }
        await server.drain(within: .seconds(30))
        #expect(server.inFlight == 0)
        for client in clients { #expect(try await client.answer().text == "done") }
        server.close()
    }
}

/// Connects and leaves, again and again, until nobody listens any more; counts.
private func knock(on port: UInt16) -> Locked<Int> {
    let count = Locked(0)
    Thread.detachNewThread {
        while (try? RawClient(port: port)) != nil {
            count.withLock { $0 += 1 }
            // Other tests run beside this one, and some of them against the clock.
            usleep(1000)
        }
    }
    return count
}
