import Glibc
import HTTPClient
import HTTPServer
import Runtime
import TestSupport
import Testing

/// Requests that wait for a free connection.
@Suite(.timeLimit(.minutes(3)))
struct WaitingTests {
    @Test func `a thousand requests wait for two connections, and all are answered`() async throws {
        let server = try RawServer { connection in
            while RawServer.readRequest(connection, upTo: "pay") {
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("pay".utf8))
        try await withClient(maxConnectionsPerHost: 2) { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        try await client.send(request, within: .seconds(60)).body == Array("ok".utf8)
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
        #expect((1...2).contains(server.connections))
    }

    @Test func `each ends at its own deadline while it waits, and not much later`() async throws {
        let server = try RawServer { RawServer.waitForEnd($0) }
        let request = HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/")
        try await withClient(maxConnectionsPerHost: 1) { client in
            async let first = failure(client, request, within: .seconds(20))
            try await eventually("the first is sent") { server.connections == 1 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The longest first: what is due is not what came first.
                for limit in [6000, 400, 200] {
                    group.addTask {
                        let start = monotonicSeconds()
                        let error = try await failure(client, request, within: .milliseconds(limit))
                        let seconds = monotonicSeconds() - start
                        #expect(error?.phase == .notSent)
                        #expect(error?.code == 28)
                        #expect(seconds >= Double(limit) / 1000)
                        #expect(seconds < Double(limit) / 1000 + 3)
                    }
                }
                try await group.waitForAll()
            }
            await client.close()
            #expect(try await first?.words == "cancelled")
        }
    }

    @Test func `one that is cancelled while it waits is not sent, and the others are`() async throws {
        let goesOn = Locked(false)
        let requests = Locked(0)
        let server = try RawServer { connection in
            while RawServer.readRequest(connection, upTo: "pay") {
                requests.withLock { $0 += 1 }
                while !goesOn.withLock({ $0 }) { usleep(1000) }
                RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("pay".utf8))
        try await withClient(maxConnectionsPerHost: 1) { client in
            async let first = client.send(request, within: .seconds(30))
            try await eventually("the first is sent") { requests.withLock { $0 } == 1 }
            let second = Task { try await failure(client, request) }
            async let third = client.send(request, within: .seconds(30))
            try await Task.sleep(for: .milliseconds(50))
            second.cancel()
            let error = try await second.value
            #expect(error?.words == "cancelled")
            #expect(error?.phase == .notSent)
            goesOn.withLock { $0 = true }
            #expect(try await first.status == 200)
            #expect(try await third.status == 200)
            #expect(requests.withLock { $0 } == 2)
        }
    }

    @Test func `the ones that wait go when the one before them fails`() async throws {
        let server = try RawServer { connection in RawServer.readRequest(connection, upTo: "pay") }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("pay".utf8))
        try await withClient(maxConnectionsPerHost: 1) { client in
            try await withThrowingTaskGroup(of: HTTPClientError?.self) { group in
                for _ in 0..<20 { group.addTask { try await failure(client, request, within: .seconds(60)) } }
                for try await error in group { #expect(error?.phase == .unknownOutcome) }
            }
        }
        #expect(server.connections == 20)
    }

    @Test func `the phase of a cancelled request says whether it was sent`() async throws {
        let server = try RawServer { connection in
            RawServer.readRequest(connection, upTo: "pay")
            RawServer.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            RawServer.waitForEnd(connection)
        }
        let request = HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: Array("pay".utf8))
        try await withClient { client in
            let task = Task { try await failure(client, request) }
            try await eventually("it is connected") { server.connections == 1 }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            #expect(try await task.value?.phase == .unknownOutcome)
        }
    }
}
