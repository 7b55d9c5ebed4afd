import HTTPClient
import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct CancellationTests {
    @Test func `a cancelled task ends its request at once`() async throws {
        let ended = Locked(0)
        let server = try RawServer { connection in
            RawServer.waitForEnd(connection)
            ended.withLock { $0 += 1 }
        }
        try await withClient { client in
            let task = Task {
                try await failure(
                    client, HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: [1]),
                    within: .seconds(30))
            }
            try await eventually("the request is there") { server.connections == 1 }
            task.cancel()
            let error = try await task.value
            #expect(error?.words == "cancelled")
            try await eventually("the server sees the end") { ended.withLock { $0 } == 1 }
        }
    }

    @Test func `a task that was cancelled before does not send`() async throws {
        let server = try RawServer { RawServer.waitForEnd($0) }
        try await withClient { client in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await failure(client, HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
            }
            task.cancel()
            let error = try await task.value
            #expect(error?.phase == .notSent)
            #expect(error?.words == "cancelled")
            #expect(server.connections == 0)
        }
    }

    @Test func `requests cancelled at any moment each end once`() async throws {
        try await withServer(handler: { request, responder in
            Task { responder.respond(HTTPResponse(status: 200, body: request.body)) }
        }) { url in
            try await withClient(maxConnectionsPerHost: 4) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            let task = Task { try await failure(client, HTTPClientRequest("POST", url, body: [1])) }
                            try await Task.sleep(for: .microseconds(index * 50))
                            task.cancel()
                            let error = try await task.value
                            #expect(error == nil || error?.words == "cancelled")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func `closing ends what is open and refuses what comes later`() async throws {
        let server = try RawServer { RawServer.waitForEnd($0) }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: [1])
        let client = HTTPClient(userAgent: "test", log: quiet)
        async let open = failure(client, request, within: .seconds(30))
        try await eventually("the request is there") { server.connections == 1 }
        await client.close()
        #expect(try await open?.words == "cancelled")
        #expect(try await failure(client, request)?.phase == .notSent)
        await client.close()
    }
}
