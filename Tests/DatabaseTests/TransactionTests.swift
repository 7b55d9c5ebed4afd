import Database
import TestSupport
import Testing

struct Dropped: Error, Equatable {}

/// What both databases do alike.
@Suite(.serialized) struct TransactionTests {
    @Test(arguments: DatabaseUnderTest.allCases)
    func `values come back as they were stored`(kind: DatabaseUnderTest) async throws {
        let values: [DatabaseValue] = [
            .null, .integer(.min), .integer(.max), 0, .real(0.1), .real(-1.5e300), .text(""),
            "naïve 👩‍👩‍👧‍👦 'quoted' $1 \\ \n", .blob([]), .blob([0, 1, 0xFF]),
            .blob([UInt8](repeating: 0xA5, count: 1 << 20)),
        ]
        let create =
            "CREATE TABLE kept (id BIGINT PRIMARY KEY, i BIGINT, r DOUBLE PRECISION, t TEXT, b \(kind.blobType))"
        try await kind.with { database in
            try await database.transaction { transaction in
                try transaction.run(create)
                for (id, value) in values.enumerated() {
                    let column =
                        switch value {
                        case .null, .integer: "i"
                        case .real: "r"
                        case .text: "t"
                        case .blob: "b"
                        }
                    try transaction.run(
                        "INSERT INTO kept (id, \(column)) VALUES ($1, $2)", [.integer(id), value])
                    #expect(transaction.changes == 1)
                }
            }
            let rows = try await database.read { transaction in
                try transaction.run("SELECT COALESCE(i, NULL) AS i, r, t, b FROM kept ORDER BY id")
            }
            #expect(rows.count == values.count)
            for (row, value) in zip(rows, values) {
                let found = ["i", "r", "t", "b"].compactMap { row[$0] }.first { $0 != .null } ?? .null
                #expect(found == value)
            }
            #expect(rows[0][0] == .null)
            #expect(rows[0]["nothing"] == nil)
            #expect(try rows[0].optionalText("t") == nil)
            #expect(throws: DatabaseError.self) { try rows[0].text("t") }
            #expect(throws: DatabaseError.self) { try rows[1].text("i") }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `what a throwing closure did is undone`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { try $0.run("CREATE TABLE counter (n BIGINT)") }
            await #expect(throws: Dropped()) {
                try await database.transaction { transaction in
                    try transaction.run("INSERT INTO counter VALUES ($1)", [1])
                    throw Dropped()
                }
            }
            let rows = try await database.read { try $0.run("SELECT n FROM counter") }
            #expect(rows.isEmpty)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a second row with the same key is a unique violation`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { transaction in
                try transaction.runScript(
                    "CREATE TABLE inbox (id TEXT PRIMARY KEY); CREATE TABLE pair (a BIGINT, b BIGINT, UNIQUE (a, b));")
                try transaction.run("INSERT INTO inbox VALUES ($1)", ["+12025559876"])
                try transaction.run("INSERT INTO pair VALUES ($1, $2)", [1, 2])
            }
            for sql in ["INSERT INTO inbox VALUES ('+12025559876')", "INSERT INTO pair VALUES (1, 2)"] {
                let error = try await databaseError { try await database.transaction { try $0.run(sql) } }
                #expect(error.isUniqueViolation)
                #expect(!error.isRetryable)
                #expect(!error.description.contains("2025559876"), "a value must not reach a log")
            }
            let changes = try await database.transaction { transaction in
                try transaction.run("INSERT INTO inbox VALUES ($1) ON CONFLICT DO NOTHING", ["+12025559876"])
                return transaction.changes
            }
            #expect(changes == 0)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a failed statement fails the transaction even if its error is swallowed`(kind: DatabaseUnderTest) async throws
    {
        try await kind.with { database in
            try await database.transaction { try $0.run("CREATE TABLE once (id BIGINT PRIMARY KEY)") }
            let error = try await databaseError {
                try await database.transaction { transaction in
                    try transaction.run("INSERT INTO once VALUES (1)")
                    #expect(throws: DatabaseError.self) { try transaction.run("INSERT INTO once VALUES (1)") }
                    #expect(throws: DatabaseError.self) { try transaction.run("SELECT 1") }
                }
            }
            #expect(error.isUniqueViolation)
            let rows = try await database.read { try $0.run("SELECT id FROM once") }
            #expect(rows.isEmpty)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `mistakes in a statement are errors and the connection goes on`(kind: DatabaseUnderTest) async throws {
        let mistakes: [(String, [DatabaseValue])] = [
            ("SELEKT 1", []), ("SELECT $1 + 1", []), ("SELECT 1; SELECT 2", []),
            ("SELECT missing FROM nowhere", []), ("SELECT $1", [.text("a\u{0}b")]),
        ]
        try await kind.with { database in
            for (sql, values) in mistakes {
                let error = try await databaseError { try await database.transaction { try $0.run(sql, values) } }
                #expect(!error.isConnectionLoss && !error.isRetryable, "\(sql): \(error)")
            }
            try await database.probe()
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `two transactions that add to one counter lose nothing`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { transaction in
                try transaction.run("CREATE TABLE counter (n BIGINT)")
                try transaction.run("INSERT INTO counter VALUES (0)")
            }
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<200 {
                            try await database.transaction { transaction in
                                let n = try transaction.run("SELECT n FROM counter")[0].integer("n")
                                try transaction.run("UPDATE counter SET n = $1", [.integer(n + 1)])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await database.read { try $0.run("SELECT n FROM counter") }
            #expect(try rows[0].integer("n") == 400)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a read goes on beside a transaction that writes, and does not see it`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
            let (written, feed) = AsyncStream<Void>.makeStream()
            let gate = Gate()
            async let writing: Void = database.transaction { transaction in
                try transaction.run("INSERT INTO item VALUES (1)")
                feed.yield()
                gate.wait()
            }
            for await _ in written { break }
            let during = try await database.read { try $0.run("SELECT n FROM item") }
            gate.open()
            try await writing
            let after = try await database.read { try $0.run("SELECT n FROM item") }
            #expect(during.isEmpty)
            #expect(after.count == 1)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a read cannot change anything`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
            let error = try await databaseError {
                try await database.read { try $0.run("INSERT INTO item VALUES (1)") }
            }
            #expect(!error.isRetryable)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `more statements than the cache holds all work`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            for round in 0..<2 {
                let sum = try await database.read { transaction in
                    try (0..<150).reduce(Int64(0)) { sum, n in
                        try sum + transaction.run("SELECT \(n) + 0 * $1 AS n", [.integer(round)])[0].integer("n")
                    }
                }
                #expect(sum == 11175)
            }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a statement goes on working after its table was altered`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
            for _ in 0..<8 { _ = try await database.transaction { try $0.run("SELECT * FROM item") } }
            try await database.transaction { try $0.run("ALTER TABLE item ADD COLUMN m BIGINT DEFAULT 7") }
            try await database.transaction { try $0.run("INSERT INTO item (n) VALUES (1)") }
            let rows = try await database.transaction { try $0.run("SELECT * FROM item") }
            #expect(try rows[0].integer("m") == 7)
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `who waits too long for a connection is refused, and too many are refused at once`(
        kind: DatabaseUnderTest
    ) async throws {
        var limits = DatabaseLimits()
        limits.waitTimeout = .milliseconds(200)
        limits.maxWaiting = 1
        try await kind.withURL { url in
            try await withDatabase(url, connections: 1, limits: limits) { database in
                let (started, feed) = AsyncStream<Void>.makeStream()
                let gate = Gate()
                async let holding: Void = database.transaction { _ in
                    feed.yield()
                    gate.wait()
                }
                for await _ in started { break }
                async let first = databaseError { try await database.transaction { _ in } }
                async let second = databaseError { try await database.transaction { _ in } }
                let errors = try await [first, second]
                gate.open()
                try await holding
                #expect(errors.allSatisfy { $0.code == "busy" && $0.isRetryable })
                #expect(Set(errors.map(\.words)).count == 2)
                try await database.probe()
            }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `close lets the transaction in progress finish and refuses later ones`(kind: DatabaseUnderTest) async throws {
        try await kind.withURL { url in
            let (started, feed) = AsyncStream<Void>.makeStream()
            let gate = Gate()
            try await withDatabase(url) { database in
                try await database.transaction { try $0.run("CREATE TABLE item (n BIGINT)") }
                async let writing: Void = database.transaction { transaction in
                    feed.yield()
                    gate.wait()
                    try transaction.run("INSERT INTO item VALUES (1)")
                }
                for await _ in started { break }
                async let closing: Void = database.close()
                gate.open()
                try await writing
                await closing
                let error = try await databaseError { try await database.probe() }
                #expect(error.code == "closed")
            }
            let rows = try await withDatabase(url) { database in
                try await database.read { try $0.run("SELECT n FROM item") }
            }
            #expect(rows.count == 1)
        }
    }
}
