import Database
import Glibc
import Runtime
import TestSupport
import Testing

/// The databases that a test runs on, one after the other.
enum DatabaseUnderTest: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    var testDescription: String { rawValue }

    /// Runs `body` with the URL of a new, empty database.
    func withURL<R>(_ body: (String) async throws -> R) async throws -> R {
        switch self {
        case .sqlite: try await TemporaryDirectory.with { try await body("sqlite:\($0)/test.db") }
        case .postgres: try await PrivatePostgreSQL.with { try await body($0.url) }
        }
    }

    /// Runs `body` with a new, empty database.
    func with<R>(_ body: (Database) async throws -> R) async throws -> R {
        try await withURL { url in try await withDatabase(url, body) }
    }

    /// What the type of bytes is called.
    var blobType: String { self == .sqlite ? "BLOB" : "BYTEA" }
}

/// Opens a database, runs `body` and closes it whatever happens.
func withDatabase<R>(
    _ url: String, connections: Int = 4, limits: DatabaseLimits = DatabaseLimits(),
    metrics: Metrics = Metrics(), _ body: (Database) async throws -> R
) async throws -> R {
    let database = try await Database.open(
        url, connections: connections, limits: limits, log: quiet, metrics: metrics)
    let result: Result<R, any Error>
    do { result = .success(try await body(database)) } catch { result = .failure(error) }
    await database.close()
    return try result.get()
}

let quiet = Log(service: "test", level: .error)

private struct NothingThrown: Error {}

/// The `DatabaseError` that `body` throws; another error passes through, and none at all is an error too.
func databaseError<R>(_ body: () async throws -> R) async throws -> DatabaseError {
    do { _ = try await body() } catch let error as DatabaseError { return error }
    throw NothingThrown()
}
