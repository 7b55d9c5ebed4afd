import Cache
import Crypto
import Glibc
import Runtime
import TestSupport
import Testing

struct ConnectionTests {
    @Test func `commands fail at once when Redis is gone and work again when it is back`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                _ = try await client.command("SET", "k", "v")
                server.kill()
                try await eventually("the loss is seen") { !client.isConnected }
                let start = monotonicSeconds()
                for _ in 0..<100 {
                    let error = try await cacheError { try await client.command("GET", "k") }
                    #expect(error.kind == .notConnected)
                }
                #expect(monotonicSeconds() - start < 15, "a hundred refusals take no time")
                try await server.start()
                try await client.waitUntilConnected(within: .seconds(30))
                try await client.expect("GET", "k", answer: .null)
            }
        }
    }

    @Test func `a command on its way when Redis dies fails at once`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                server.signal(SIGSTOP)
                let start = monotonicSeconds()
                async let error = cacheError { try await client.command("GET", "k") }
                server.kill()
                let kind = try await error.kind
                #expect(kind == .notConnected)
                #expect(monotonicSeconds() - start < 15)
            }
        }
    }

    @Test func `a Redis that hangs costs no more than the time for a command`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url, commandTimeout: .milliseconds(50)) { client in
                server.signal(SIGSTOP)
                let start = monotonicSeconds()
                let error = try await cacheError { try await client.command("GET", "k") }
                let elapsed = monotonicSeconds() - start
                #expect(error.kind == .timedOut)
                #expect(elapsed >= 0.05 && elapsed < 15)
                let next = try await cacheError { try await client.command("GET", "k") }
                #expect(next.kind == .notConnected)
                server.signal(SIGCONT)
                try await client.waitUntilConnected(within: .seconds(30))
                try await eventually("commands work again") {
                    try await client.command("PING") == .status("PONG")
                }
            }
        }
    }

    @Test func `commands that wait their turn are not given up while answers come`() async throws {
        try await FakeServer.with(answering: "+PONG\r\n", after: .milliseconds(400)) { port in
            try await withClient("redis://127.0.0.1:\(port)", commandTimeout: .seconds(1)) { client in
                try await withThrowingTaskGroup(of: RedisValue.self) { group in
                    for _ in 0..<5 { group.addTask { try await client.command("PING") } }
                    for try await answer in group { #expect(answer == .status("PONG")) }
                }
            }
        }
    }

    @Test func `nor does a command wait for ever because others are answered`() async throws {
        try await FakeServer.with(answering: "+PONG\r\n", after: .milliseconds(50)) { port in
            try await withClient("redis://127.0.0.1:\(port)", commandTimeout: .milliseconds(200)) { client in
                let kinds = await withTaskGroup(of: CacheError.Kind?.self) { group in
                    for _ in 0..<100 {
                        group.addTask { try? await cacheError { try await client.command("PING") }.kind }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                // A hundred would take five seconds, and two are the most.
                #expect(kinds.contains(nil))
                #expect(kinds.contains(.timedOut))
            }
        }
    }

    @Test func `a late answer is never given to another command`() async throws {
        try await PrivateRedis.with { server in
            try await withClient(server.url) { client in
                for n in 0..<50 { _ = try await client.command("SET", "key-\(n)", "value-\(n)") }
            }
            try await withClient(server.url, commandTimeout: .milliseconds(40)) { client in
                let done = Locked(false)
                async let hiccups: Void = {
                    for _ in 0..<10 {
                        server.signal(SIGSTOP)
                        try await Task.sleep(for: .milliseconds(60))
                        server.signal(SIGCONT)
                        try? await client.waitUntilConnected(within: .seconds(30))
                        try await Task.sleep(for: .milliseconds(30))
                    }
                    done.withLock { $0 = true }
                }()
                let counts = try await withThrowingTaskGroup(of: (right: Int, failed: Int).self) { group in
                    for n in 0..<50 {
                        group.addTask {
                            var (right, failed) = (0, 0)
                            while !done.withLock({ $0 }) {
                                do {
                                    let text = try await client.command("GET", "key-\(n)").text
                                    #expect(text == "value-\(n)")
                                    right += 1
                                } catch is CacheError {
                                    failed += 1
                                    try await Task.sleep(for: .milliseconds(1))
                                }
                            }
                            return (right, failed)
                        }
                    }
                    return try await group.reduce((0, 0)) { ($0.0 + $1.right, $0.1 + $1.failed) }
                }
                try await hiccups
                #expect(counts.0 > 0 && counts.1 > 0)
            }
        }
    }

    @Test func `after three failures it waits before it tries again`() async throws {
        let metrics = Metrics()
        let lines = Locked<[String]>([])
        let log = Log(service: "test", write: { line in lines.withLock { $0.append(line) } })
        let client = try RedisClient(url: "redis://127.0.0.1:\(try freePort())", log: log, metrics: metrics)
        let error = try await cacheError { try await client.waitUntilConnected(within: .milliseconds(300)) }
        #expect(error.kind == .notConnected)
        #expect(error.words.contains("Connection refused"))
        await client.close()
        #expect(lines.withLock { $0.count } == 1, "one line for each reason, not for each attempt")
    }

    @Test func `the login is sent before anything else, and the database chosen`() async throws {
        try await PrivateRedis.with(arguments: ["--requirepass", "s3cret/+ é"]) { server in
            let place = "127.0.0.1:\(server.port)"
            try await withClient("redis://:s3cret%2F%2B%20%C3%A9@\(place)/2") { client in
                _ = try await client.command("SET", "k", "two")
                _ = try await client.command("ACL", "SETUSER", "cache", "on", ">pass", "~*", "+@all")
            }
            try await withClient("redis://cache:pass@\(place)/2") { client in
                try await client.expect("GET", "k", answer: .text("two"))
            }
            try await withClient("redis://cache:pass@\(place)") { client in
                try await client.expect("GET", "k", answer: .null)
            }
        }
    }

    @Test func `a wrong password, none at all and a database that is not there are clear errors`() async throws {
        try await PrivateRedis.with(arguments: ["--requirepass", "right"]) { server in
            let place = "127.0.0.1:\(server.port)"
            let cases = [
                ("redis://:hunter2@\(place)", "WRONGPASS"), ("redis://\(place)", "NOAUTH"),
                ("redis://:right@\(place)/99", "out of range"),
            ]
            for (url, words) in cases {
                try await withClient(url, isConnected: false) { client in
                    let error = try await client.objection()
                    guard case .refused = error.kind else { throw error }
                    #expect(error.words.contains(words))
                    #expect(!error.description.contains("hunter2"))
                    let refused = try await cacheError { try await client.command("GET", "k") }
                    #expect(refused.kind == .notConnected)
                }
            }
        }
    }

    @Test(arguments: [
        "", "localhost:6379", "http://localhost", "redis://", "redis://:hunter2@/0", "redis://localhost/zero",
        "redis://localhost/-1", "redis://hunter2@localhost", "redis://localhost:0", "redis://localhost:66000",
        "redis://localhost?hunter2=1",
    ])
    func `a URL that is none is refused`(url: String) async throws {
        let error = try await cacheError { try await withClient(url, isConnected: false) { _ in } }
        #expect(error.kind == .settings)
        #expect(!error.description.contains("hunter2"))
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "Protocol error"), ("+PONG\r\n+MORE\r\n", "nobody asked for"),
        ("*-5\r\n", "out of range"), ("$99999999999999999999\r\n", "Bad bulk string length"),
    ])
    func `an answer that is not Redis' protocol ends the connection`(answer: String, words: String) async throws {
        try await FakeServer.with(saying: answer) { port in
            try await withClient("redis://127.0.0.1:\(port)", isConnected: false) { client in
                try await eventually("the protocol error is seen") {
                    let error = try await cacheError { try await client.command("GET", "k") }
                    return error.words.contains(words)
                }
            }
        }
    }
}

struct CacheTLSTests {
    private func withTLSServer(_ body: (PrivateRedis, _ caFile: String, _ otherCAFile: String) async throws -> Void)
        async throws
    {
        try await TemporaryDirectory.with { folder in
            try await TemporaryDirectory.with { other in
                let files = try SelfSignedCertificate.write(
                    to: folder, commonName: "redis", dnsNames: ["localhost"], ipAddresses: [])
                let others = try SelfSignedCertificate.write(
                    to: other, commonName: "redis", dnsNames: ["localhost"], ipAddresses: [])
                try await PrivateRedis.with(tls: (files.certificateFile, files.keyFile)) { server in
                    try await body(server, files.caFile, others.caFile)
                }
            }
        }
    }

    @Test func `rediss is TLS, with a verified certificate and name`() async throws {
        try await withTLSServer { server, caFile, otherCAFile in
            let large = [UInt8](repeating: 0x5A, count: 3 << 20)
            try await withClient("rediss://localhost:\(server.port)", caFile: caFile) { client in
                _ = try await client.command([Array("SET".utf8), Array("k".utf8), large])
                try await client.expect("GET", "k", answer: .bytes(large))
                try await withThrowingTaskGroup { group in
                    for n in 0..<1000 {
                        group.addTask { try await client.expect("ECHO", "\(n)", answer: .text("\(n)")) }
                    }
                    try await group.waitForAll()
                }
            }
            // A foreign authority, the machine's own list, and a name that is not in the certificate.
            let wrong = [("localhost", otherCAFile), ("localhost", nil), ("127.0.0.1", caFile)]
            for (host, caFile) in wrong {
                try await withClient("rediss://\(host):\(server.port)", caFile: caFile, isConnected: false) { client in
                    let error = try await client.objection()
                    #expect(error.words.contains("TLS handshake"), "\(host) \(caFile ?? "-"): \(error)")
                    #expect(!client.isConnected)
                }
            }
        }
    }

    @Test func `a plain Redis is not spoken to when TLS is asked for`() async throws {
        try await PrivateRedis.with { server in
            try await withClient("rediss://localhost:\(server.port)", isConnected: false) { client in
                let error = try await cacheError { try await client.waitUntilConnected(within: .seconds(3)) }
                // Redis waits for the end of a line that a TLS greeting does not have.
                #expect(error.kind == .timedOut)
                #expect(!client.isConnected)
            }
        }
    }

    @Test func `certificates to trust that are not there are a clear error`() async throws {
        let error = try await cacheError {
            try await withClient("rediss://localhost", caFile: "/nowhere/ca.pem", isConnected: false) { _ in }
        }
        #expect(error.kind == .settings)
        #expect(error.words.contains("/nowhere/ca.pem"))
    }
}
