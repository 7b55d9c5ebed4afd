import Glibc
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct StopTests {
    @Test func `servers that are stopped under load finish what they have, two hundred times in a row`() async {
        // A process of its own: what this looks for ends the whole process.
        await #expect(processExitsWith: .success) {
            for _ in 0..<200 { try await stopUnderLoad() }
        }
    }
}

/// One server's life, with clients that connect until the last moment.
private func stopUnderLoad() async throws {
    let held = Held()
    try await withServer(handler: { request, responder in
        if request.path == "/held" { held.hold(request, responder) } else { echo(request, responder) }
    }) { server in
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { await knock(on: server.port) } }
            let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
            for client in clients { try await client.send(get("/held")) }
            try await eventually("all are there") { held.count == clients.count }
            server.stopAccepting()
            #expect(throws: RawClient.Broken.self) { try RawClient(port: server.port) }
            for (_, responder) in held.takeAll() { responder.respond(.text(200, "done")) }
            await server.drain(within: .seconds(10))
            #expect(server.inFlight == 0)
            for client in clients { #expect(try await client.answer().text == "done") }
            server.close()
            try await group.waitForAll()
        }
    }
}

/// Connects and asks, again and again, until nobody listens any more.
private func knock(on port: UInt16) async {
    while let client = try? RawClient(port: port) {
        // The server may go at any moment, so an answer is not certain.
        try? await client.send(get("/"))
        _ = try? await client.answer(within: .seconds(2))
    }
}
