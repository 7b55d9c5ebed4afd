import HTTP2
import Runtime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct StreamLimitTests {
    @Test func `no more streams are open than the server allows`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = 5
        let held = Held()
        try await TestServer.with(settings: settings, handler: held.hold) { test in
            let client = try test.client()
            let results = try await answerAll(held) { await sendMany(40, with: client) }
            #expect(results == Array(repeating: "200", count: 40))
            #expect(held.most == 5)
        }
    }

    @Test func `our own limit holds below the server's`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client { $0.maxConcurrentStreams = 3 }
            let results = try await answerAll(held) { await sendMany(20, with: client) }
            #expect(results == Array(repeating: "200", count: 20))
            #expect(held.most == 3)
        }
    }

    @Test func `a change of the server's limit holds from then on`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = 2
        let held = Held()
        try await TestServer.with(settings: settings, handler: held.hold) { test in
            let client = try test.client()
            async let results = sendMany(60, with: client)
            try await eventually("two streams are open") { held.count == 2 }
            test.server.setMaxConcurrentStreams(10)
            try await eventually("ten streams are open") { held.count == 10 }
            test.server.setMaxConcurrentStreams(3)
            _ = held.takeAndForget().map { $0.responder.respond(status: 200) }
            try await eventually("all are answered") {
                held.answer()
                return held.total == 60 && held.count == 0
            }
            #expect(held.most == 3)
            #expect(await results == Array(repeating: "200", count: 60))
        }
    }

    @Test func `a new connection starts with one stream until the first success`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client { $0.startsWithOneStream = true }
            async let results = sendMany(30, with: client)
            try await eventually("the first request is there") { held.count == 1 }
            held.answer(status: 403)
            try await eventually("the second request is there") { held.count == 1 }
            #expect(held.most == 1, "a refusal is no success")
            held.answer(status: 200)
            try await eventually("all others are there at once") { held.count == 28 }
            held.answer()
            #expect(await results.sorted() == Array(repeating: "200", count: 29) + ["403"])
        }
    }

    @Test func `after an answer that says so, requests go over a new connection`() async throws {
        let seen = Locked<[Int]>([])
        try await TestServer.with(handler: { request, responder in
            let count = seen.withLock { seen in
                seen.append(request.connectionID)
                return seen.count
            }
            responder.respond(status: count == 2 ? 403 : 200)
        }) { test in
            let client = try test.client { $0.isLast = { $0.status == 403 } }
            for expected in ["200", "403", "200", "200"] {
                #expect(await outcome { try await client.send(post("/"), within: .seconds(30)) } == expected)
            }
            let connections = seen.withLock { $0 }
            #expect(connections[0] == connections[1] && connections[2] == connections[3])
            #expect(connections[1] != connections[2])
        }
    }

    @Test func `more requests than may wait are refused`() async throws {
        let held = Held()
        try await TestServer.with(handler: held.hold) { test in
            let client = try test.client {
                $0.maxConcurrentStreams = 1
                $0.maxQueued = 5
            }
            let results = Locked<[String]>([])
            @Sendable func send() {
                client.send(post("/"), within: .seconds(30)) { result in
                    let text =
                        switch result {
                        case .success(let response): "\(response.status)"
                        case .failure(let error): "\(error.outcome)"
                        }
                    results.withLock { $0.append(text) }
                }
            }
            send()
            try await eventually("the first request is there") { held.count == 1 }
            // While the first one goes from waiting to open, it may count as waiting still.
            let sent = Locked(1)
            try await eventually("five wait, and the next is refused") {
                send()
                let count = sent.withLock { count in
                    count += 1
                    return count
                }
                let refused = results.withLock { $0.count }
                return refused > 0 && count - refused == 6
            }
            let refused = results.withLock { $0 }
            #expect(refused.allSatisfy { $0 == "notProcessed" })
            try await eventually("the others are answered") {
                held.answer()
                return results.withLock { $0.count } == sent.withLock { $0 }
            }
            #expect(results.withLock { $0.dropFirst(refused.count) } == Array(repeating: "200", count: 6)[...])
        }
    }

    private func sendMany(_ count: Int, with client: HTTP2Client) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<count {
                group.addTask { await outcome { try await client.send(post("/\(number)"), within: .seconds(30)) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Answers what is held, again and again, until `body` has ended.
    private func answerAll<R: Sendable>(_ held: Held, _ body: @escaping @Sendable () async throws -> R) async throws
        -> R
    {
        try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(5))
                    held.answer()
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}
