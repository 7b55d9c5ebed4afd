import Cache
import Glibc
import Runtime
import TestSupport
import Testing

struct CommandTests {
    @Test func `each kind of answer comes back as it is`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                try await client.expect("SET", "k", "v", answer: .status("OK"))
                try await client.expect("GET", "k", answer: .text("v"))
                try await client.expect("GET", "nothing", answer: .null)
                try await client.expect("INCRBY", "n", "9223372036854775807", answer: .integer(.max))
                try await client.expect("SET", "empty", "", answer: .status("OK"))
                try await client.expect("GET", "empty", answer: .bytes([]))
                try await client.expect(
                    "MGET", "k", "nothing", "n",
                    answer: .array([.bytes(Array("v".utf8)), .null, .bytes(Array("9223372036854775807".utf8))]))
                try await client.expect("HGETALL", "nothing", answer: .array([]))
            }
        }
    }

    @Test func `values may hold any bytes and be large`() async throws {
        let every = (0...255).map { UInt8($0) }
        let large = (0..<(5 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                for value in [every, large] {
                    _ = try await client.command([Array("SET".utf8), every, value])
                    let found = try await client.command([Array("GET".utf8), every])
                    #expect(found == .bytes(value))
                }
            }
        }
    }

    @Test func `Redis' own error is thrown and the connection goes on`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                _ = try await client.command("LPUSH", "list", "1")
                let error = try await cacheError { try await client.command("GET", "list") }
                guard case .refused(let words) = error.kind else { throw error }
                #expect(words.hasPrefix("WRONGTYPE"))
                let unknown = try await cacheError { try await client.command("GTE", "+12025559876") }
                #expect(!unknown.description.contains("2025559876"), "an argument must not reach a log")
                try await client.expect("LLEN", "list", answer: .integer(1))
            }
        }
    }

    @Test func `a thousand tasks share the connection and each gets its own answer`() async throws {
        let metrics = Metrics()
        try await PrivateRedis.with { server in
            try await withClient(server.url, metrics: metrics) { client in
                let answers = try await withThrowingTaskGroup(of: Int64?.self) { group in
                    for _ in 0..<1000 { group.addTask { try await client.command("INCR", "n").integer } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(answers) == Set((1...1000).map(Int64.init)))
                try await withThrowingTaskGroup { group in
                    for n in 0..<1000 {
                        group.addTask { try await client.expect("ECHO", "\(n)", answer: .text("\(n)")) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        #expect(metrics.render().contains("isthmus_cache_commands_total{outcome=\"answered\"} 2000"))
        #expect(metrics.render().contains("isthmus_cache_seconds_count 2000"))
    }

    @Test func `a script decides by version`() async throws {
        let fill = """
            local c = redis.call('HGET', KEYS[1], 'v')
            if c and tonumber(c) > tonumber(ARGV[1]) then return 0 end
            redis.call('HSET', KEYS[1], 'v', ARGV[1], 'd', ARGV[2])
            redis.call('PEXPIRE', KEYS[1], 60000)
            return 1
            """
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                try await client.expect("EVAL", fill, "1", "tok", "2", "new", answer: .integer(1))
                try await client.expect("EVAL", fill, "1", "tok", "1", "old", answer: .integer(0))
                try await client.expect("HGET", "tok", "d", answer: .text("new"))
            }
        }
    }

    @Test(arguments: [["SUBSCRIBE", "a", "b"], ["monitor"], ["CLIENT", "REPLY", "OFF"], []])
    func `a command after which answers would be mixed up is refused`(command: [String]) async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                let error = try await cacheError { try await client.command(command.map { Array($0.utf8) }) }
                #expect(error.kind == .protocolError)
                try await client.expect("PING", answer: .status("PONG"))
            }
        }
    }

    @Test func `a command that is too large and one too many are refused`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url, commandTimeout: .seconds(3)) { client in
                let large = [UInt8](repeating: 1, count: (16 << 20) + 1)
                let error = try await cacheError { try await client.command([Array("ECHO".utf8), large]) }
                #expect(error.kind == .tooMuch)
                server.signal(SIGSTOP)
                let kinds = await withTaskGroup(of: CacheError.Kind?.self) { group in
                    for _ in 0..<8200 {
                        group.addTask { try? await cacheError { try await client.command("PING") }.kind }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                server.signal(SIGCONT)
                #expect(kinds.count { $0 == .tooMuch } == 8)
                // The first that is overdue takes the others along.
                #expect(kinds.count { $0 == .timedOut } > 0)
                #expect(kinds.count { $0 == .timedOut || $0 == .notConnected } == 8192)
            }
        }
    }

    @Test func `close waits for the answers that are due and refuses what comes later`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                let answered = Locked(0)
                try await withThrowingTaskGroup(of: CacheError.self) { group in
                    for n in 0..<20 {
                        group.addTask {
                            try await cacheError {
                                while true {
                                    try await client.expect("ECHO", "\(n)", answer: .text("\(n)"))
                                    answered.withLock { $0 += 1 }
                                }
                            }
                        }
                    }
                    try await eventually("commands are on their way all the time") { answered.withLock { $0 } > 200 }
                    await client.close()
                    for try await error in group {
                        #expect(error.words == "the client is closed", "not: the connection was dropped")
                    }
                }
            }
        }
    }
}
