import Database
import Foundation
import Runtime
import TestSupport
import Testing

struct SQLiteTests {
    @Test func `commits are durable and foreign keys are enforced`() async throws {
        try await DatabaseUnderTest.sqlite.with { database in
            let settings = try await database.transaction { transaction in
                try ["journal_mode", "synchronous", "foreign_keys"].map { try transaction.run("PRAGMA \($0)")[0][0] }
            }
            #expect(settings == ["wal", 2, 1])
            try await database.transaction { transaction in
                try transaction.runScript(
                    "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a (id))")
            }
            let error = try await databaseError {
                try await database.transaction { try $0.run("INSERT INTO b VALUES (1)") }
            }
            #expect(!error.isUniqueViolation && !error.isRetryable)
        }
    }

    @Test func `only the owner can read the files`() async throws {
        try await TemporaryDirectory.with { folder in
            try await withDatabase("sqlite:\(folder)/test.db") { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                for name in ["test.db", "test.db-wal", "test.db-shm"] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                    #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
                }
            }
        }
    }

    @Test func `a file in a folder that is not there is a clear error`() async throws {
        let error = try await databaseError { try await withDatabase("sqlite:/nowhere/at/all/test.db") { _ in } }
        #expect(error.operation == .open)
        #expect(error.words.contains("/nowhere/at/all/test.db"))
        #expect(error.words.contains("No such file or directory"))
    }

    @Test(arguments: ["sqlite:", "sqlite::memory:", "mysql://localhost/x", ""])
    func `a URL that is none is refused`(url: String) async throws {
        let error = try await databaseError { try await withDatabase(url) { _ in } }
        #expect(error.code == "url")
    }

    @Test func `a file that is no database is a clear error`() async throws {
        try await TemporaryDirectory.with { folder in
            try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: "\(folder)/test.db"))
            let error = try await databaseError { try await withDatabase("sqlite:\(folder)/test.db") { _ in } }
            #expect(error.words.contains("not a database"))
        }
    }

    @Test func `a full disk is an error, and what was committed before stays`() async throws {
        try await SmallDisk.with(kilobytes: 512) { disk in
            guard let disk else { return }  // The next test shows the same without the right to mount.
            try await withDatabase("sqlite:\(disk)/test.db") { try await fill($0) }
        }
    }

    @Test func `a full file is an error, and what was committed before stays`() async throws {
        try await DatabaseUnderTest.sqlite.with { database in
            try await database.transaction { try $0.run("PRAGMA max_page_count = 100") }
            try await fill(database)
        }
    }

    /// Commits until there is no more room.
    private func fill(_ database: Database) async throws {
        try await database.transaction { try $0.run("CREATE TABLE item (id INTEGER PRIMARY KEY, b BLOB)") }
        var committed: Int64 = 0
        let error = try await databaseError {
            for _ in 0..<200 {
                try await database.transaction { transaction in
                    let blob = [UInt8](repeating: 1, count: 8192)
                    try transaction.run("INSERT INTO item (b) VALUES ($1)", [.blob(blob)])
                }
                committed += 1
            }
        }
        #expect(error.isRetryable)
        #expect(committed > 5)
        let (count, check) = try await database.read { transaction in
            (
                try transaction.run("SELECT COUNT(*) AS n FROM item")[0].integer("n"),
                try transaction.run("PRAGMA integrity_check")[0][0]
            )
        }
        #expect(count == committed)
        #expect(check == "ok")
    }

    @Test func `another process that holds the write lock is waited for`() async throws {
        try await TemporaryDirectory.with { folder in
            let url = "sqlite:\(folder)/test.db"
            try await withDatabase(url) { first in
                try await first.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                try await withDatabase(url) { second in
                    let (started, feed) = AsyncStream<Void>.makeStream()
                    let gate = Gate()
                    async let holding: Void = first.transaction { transaction in
                        try transaction.run("INSERT INTO item VALUES (1)")
                        feed.yield()
                        gate.wait()
                    }
                    for await _ in started { break }
                    async let waiting: Void = second.transaction { try $0.run("INSERT INTO item VALUES (2)") }
                    gate.open()
                    try await holding
                    try await waiting
                    let rows = try await first.read { try $0.run("SELECT n FROM item ORDER BY n") }
                    #expect(rows.map { $0[0] } == [1, 2])
                }
            }
        }
    }
}
