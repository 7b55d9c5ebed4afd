import Foundation

/// A folder of a test's own.
package enum TemporaryDirectory {
    /// Runs `body` with the path of a new, empty folder, which is removed afterwards whatever happens.
    package static func with<R>(_ body: (String) async throws -> R) async throws -> R {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the system's temporary place is no reason for a test to fail.
            try? FileManager.default.removeItem(atPath: path)
        }
        return try await body(path)
    }
}
