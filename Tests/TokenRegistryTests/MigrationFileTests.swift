import Database
import Foundation
import Runtime
import TestSupport
import Testing

@testable import TokenRegistry

@Suite(.timeLimit(.minutes(3))) struct MigrationFileTests {
    private static let path = "infra/postgres/migrations/registry.sql"

    @Test func `the tables that can be made by hand are those that the service makes`() throws {
        let script = Migration.script(Migrations.all, scope: Migrations.scope)
        #expect(try RepositoryFile.text(Self.path, madeAs: script) == script, "ISTHMUS_WRITE_FILES=1 writes it anew")
    }

    @Test func `where they were made by hand, the service has nothing left to make`() async throws {
        try await PrivatePostgreSQL.with { server in
            try await TemporaryDirectory.with { directory in
                let psql = try LocalProcess.start(
                    "/usr/bin/psql",
                    ["-v", "ON_ERROR_STOP=1", "-q", "-f", RepositoryFile.url(Self.path).path, server.url],
                    environment: [:], logFile: "\(directory)/psql.log")
                #expect(try await psql.waitForExit(within: .seconds(30)) == 0)
            }
            let log = Log(service: "test", level: .error)
            let database = try await Database.open(server.url, log: log, metrics: Metrics())
            let before = try await applied(database)
            #expect(before.count == Migrations.all.count)
            try await database.migrate(Migrations.all, scope: Migrations.scope)
            #expect(try await applied(database) == before)
            await database.close()
        }
    }

    private func applied(_ database: Database) async throws -> [String] {
        try await database.read { transaction in
            try transaction.run("SELECT CAST(applied_at AS TEXT) AS at FROM schema_migrations ORDER BY number").map {
                try $0.text("at")
            }
        }
    }
}
