import Database
import TestSupport
import Testing

@Suite(.serialized) struct MigrationTests {
    private let two = [
        Migration(number: 1, name: "items", "CREATE TABLE item (n BIGINT); INSERT INTO item VALUES (1);"),
        Migration(
            number: 2, name: "text", sqlite: "ALTER TABLE item ADD COLUMN t TEXT; UPDATE item SET n = n + 1",
            postgres: "ALTER TABLE item ADD COLUMN t TEXT; UPDATE item SET n = n + 1"),
    ]

    @Test(arguments: DatabaseUnderTest.allCases)
    func `starters at the same time apply each migration once`(kind: DatabaseUnderTest) async throws {
        try await kind.withURL { url in
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await withDatabase(url, connections: 1) { try await $0.migrate(two, scope: "agent") }
                    }
                }
                try await group.waitForAll()
            }
            try await withDatabase(url) { database in
                try await database.migrate(two, scope: "agent")
                let items = try await database.read { try $0.run("SELECT n FROM item") }
                #expect(try items.map { try $0.integer("n") } == [2])
                let applied = try await database.read {
                    try $0.run("SELECT number FROM schema_migrations WHERE scope = 'agent' ORDER BY number")
                }
                #expect(try applied.map { try $0.integer("number") } == [1, 2])
            }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a migration that this program does not know is refused`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.migrate(two, scope: "agent")
            let error = try await databaseError { try await database.migrate([two[0]], scope: "agent") }
            #expect(error.code == "newer")
            #expect(error.description.contains("migration 2 of agent"))
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `services that share a database do not see each other's migrations`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            try await database.migrate(two, scope: "agent")
            let other = [Migration(number: 1, name: "tokens", "CREATE TABLE token (t TEXT)")]
            try await database.migrate(other, scope: "registry")
            try await database.transaction { try $0.run("INSERT INTO token VALUES ('t')") }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `a migration that fails leaves nothing behind and can be mended`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            let broken = Migration(number: 2, name: "broken", "CREATE TABLE half (n BIGINT); SELECT * FROM nowhere;")
            await #expect(throws: DatabaseError.self) { try await database.migrate([two[0], broken], scope: "agent") }
            let mended = Migration(number: 2, name: "mended", "CREATE TABLE half (n BIGINT)")
            try await database.migrate([two[0], mended], scope: "agent")
            try await database.transaction { try $0.run("INSERT INTO half VALUES (1)") }
        }
    }

    @Test(arguments: DatabaseUnderTest.allCases)
    func `migrations must be numbered from one in order`(kind: DatabaseUnderTest) async throws {
        try await kind.with { database in
            let error = try await databaseError { try await database.migrate([two[1]], scope: "agent") }
            #expect(error.code == "numbers")
        }
    }
}
