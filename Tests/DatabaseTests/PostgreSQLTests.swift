import Database
import Glibc
import Runtime
import TestSupport
import Testing

@Suite(.serialized) struct PostgreSQLTests {
    @Test func `transactions recover by themselves when the server was restarted`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 3) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                try await server.stop()
                let error = try await databaseError {
                    try await database.transaction { try $0.run("INSERT INTO item VALUES (1)") }
                }
                #expect(error.isConnectionLoss && error.isRetryable && !error.isOutcomeUnknown)
                try await server.start()
                try await eventually("the database is reached again") {
                    try await database.transaction { try $0.run("INSERT INTO item VALUES (2)") }
                    return true
                }
                let rows = try await database.read { try $0.run("SELECT n FROM item") }
                #expect(rows.map { $0[0] } == [2])
            }
        }
    }

    @Test func `connections that broke while idle are replaced without an error`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 2) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                try await server.stop()
                try await server.start()
                for _ in 0..<4 { try await database.transaction { try $0.run("INSERT INTO item VALUES (1)") } }
            }
        }
    }

    @Test func `a server that hangs is an error in time, and is used again when it goes on`() async throws {
        var limits = DatabaseLimits()
        limits.connectTimeout = .seconds(2)
        limits.statementTimeout = .milliseconds(500)
        limits.answerMargin = .milliseconds(500)
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 1, limits: limits) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                let hang: @Sendable () -> Void = { server.signal(SIGSTOP) }
                let start = monotonicSeconds()
                let error = try await databaseError {
                    try await database.transaction { transaction in
                        hang()
                        try transaction.run("INSERT INTO item VALUES (1)")
                    }
                }
                #expect(monotonicSeconds() - start < 20)
                #expect(error.code == "timeout" && error.isConnectionLoss && error.isRetryable)
                #expect(!error.isOutcomeUnknown)
                let again = try await databaseError { try await database.probe() }
                #expect(again.isConnectionLoss)
                #expect(monotonicSeconds() - start < 40)
                server.signal(SIGCONT)
                try await eventually("the database is reached again") {
                    try await database.probe()
                    return true
                }
                let rows = try await database.read { try $0.run("SELECT n FROM item") }
                #expect(rows.isEmpty)
            }
        }
    }

    @Test func `a commit that was not answered is reported as of unknown outcome`() async throws {
        var limits = DatabaseLimits()
        limits.statementTimeout = .milliseconds(300)
        limits.answerMargin = .milliseconds(200)
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 1, limits: limits) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                let error = try await databaseError {
                    try await database.transaction { transaction in
                        try transaction.run("INSERT INTO item VALUES (1)")
                        server.signal(SIGSTOP)
                    }
                }
                server.signal(SIGCONT)
                #expect(error.operation == .commit)
                #expect(error.isOutcomeUnknown)
                try await eventually("the database is reached again") {
                    try await database.probe()
                    return true
                }
            }
        }
    }

    @Test func `a slow statement is given up by the server and the connection stays`() async throws {
        var limits = DatabaseLimits()
        limits.statementTimeout = .milliseconds(200)
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 1, limits: limits) { database in
                let error = try await databaseError {
                    try await database.read { try $0.run("SELECT CAST(pg_sleep(20) AS TEXT)") }
                }
                #expect(error.code == "57014")
                #expect(error.isRetryable && !error.isConnectionLoss)
                try await database.probe()
            }
        }
    }

    @Test func `a connection that the server ends is a connection loss, and the transaction is undone`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 2) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                let (started, feed) = AsyncStream<Int64>.makeStream()
                let gate = Gate()
                async let ending = databaseError {
                    try await database.transaction { transaction in
                        try transaction.run("INSERT INTO item VALUES (1)")
                        feed.yield(try transaction.run("SELECT pg_backend_pid() AS pid")[0].integer("pid"))
                        gate.wait()
                    }
                }
                for await pid in started {
                    try await database.transaction {
                        try $0.run("SELECT pg_terminate_backend(CAST($1 AS INTEGER), 5000)", [.integer(pid)])
                    }
                    break
                }
                gate.open()
                let error = try await ending
                #expect(error.isConnectionLoss && error.isRetryable)
                let rows = try await database.read { try $0.run("SELECT n FROM item") }
                #expect(rows.isEmpty)
            }
        }
    }

    @Test func `a read of a table that was altered meanwhile works`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.url, connections: 1) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                _ = try await database.read { try $0.run("SELECT * FROM item") }
                try await database.transaction { try $0.run("ALTER TABLE item ADD COLUMN m BIGINT") }
                try await database.transaction { try $0.run("INSERT INTO item VALUES (1, 2)") }
                let rows = try await database.read { try $0.run("SELECT * FROM item") }
                #expect(rows[0]["m"] == 2)
            }
        }
    }

    @Test func `the Unix socket can be used`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await withDatabase(server.socketURL) { try await $0.probe() }
        }
    }

    @Test func `a commit is never only promised`() async throws {
        try await PrivatePostgreSQL.with { server in
            let url = server.url + "&options=-c%20synchronous_commit%3Doff"
            try await withDatabase(url) { database in
                let rows = try await database.read { try $0.run("SHOW synchronous_commit") }
                #expect(rows[0][0] == "on")
            }
        }
    }

    @Test func `a role that may not change the schema can run on a migrated database`() async throws {
        try await PrivatePostgreSQL.with { server in
            let migrations = [Migration(number: 1, name: "items", "CREATE TABLE item (n BIGINT)")]
            try await withDatabase(server.url) { database in
                try await database.migrate(migrations, scope: "agent")
                try await database.transaction {
                    try $0.runScript(
                        "CREATE ROLE service LOGIN; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO service")
                }
            }
            let url = server.url.replacing("postgres@", with: "service@")
            try await withDatabase(url) { database in
                try await database.migrate(migrations, scope: "agent")
                try await database.transaction { try $0.run("INSERT INTO item VALUES (1)") }
            }
        }
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func `another machine is refused without a verified certificate`(mode: String) async throws {
        let url = "postgres://user:hunter2@db.example.com/agent?sslmode=\(mode)"
        let error = try await databaseError { try await withDatabase(url) { _ in } }
        #expect(error.code == "url")
        #expect(error.words.contains("verify-full") && error.words.contains(mode))
        #expect(!error.description.contains("hunter2"))
    }

    @Test(arguments: [
        "postgres://10.0.0.1/agent?sslmode=disable",
        "postgres://127.0.0.1,10.0.0.1/agent?sslmode=disable",
        "postgres://127.0.0.1.example.com/agent?sslmode=disable",
        "postgres://localhost/agent?hostaddr=10.0.0.1&sslmode=disable",
        "postgres://user@/agent",
        "postgres://localhost/agent?service=other",
        "postgres://user:hunter2%zz@localhost/agent",
        "postgres://user:hunter2@localhost/agent?hunter2",
    ])
    func `a way around the rule is refused`(url: String) async throws {
        let error = try await databaseError { try await withDatabase(url) { _ in } }
        #expect(error.code == "url")
        #expect(!error.description.contains("hunter2"))
    }

    @Test func `a server that nobody answers for is a clear error`() async throws {
        let port = try freePort()
        let error = try await databaseError {
            try await withDatabase("postgres://user:hunter2@127.0.0.1:\(port)/agent") { _ in }
        }
        #expect(error.operation == .connect)
        #expect(error.words.contains("Connection refused"))
        #expect(!error.description.contains("hunter2"))
    }
}
