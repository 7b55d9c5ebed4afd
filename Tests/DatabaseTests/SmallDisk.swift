import Foundation
import Runtime
import TestSupport

/// A file system in memory that is soon full.
enum SmallDisk {
    /// Runs `body` with a folder on it; without one where mounting is not allowed.
    static func with<R>(kilobytes: Int, _ body: (String?) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { folder in
            let disk = "\(folder)/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            let isMounted = try await run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", disk], folder)
            let result: Result<R, any Error>
            do { result = .success(try await body(isMounted ? disk : nil)) } catch { result = .failure(error) }
            if isMounted, try await !run("umount", ["--lazy", disk], folder) { throw StillMounted(disk: disk) }
            return try result.get()
        }
    }

    private struct StillMounted: Error { let disk: String }

    private static func run(_ program: String, _ arguments: [String], _ folder: String) async throws -> Bool {
        try await LocalProcess.start(
            program, arguments, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"], logFile: "\(folder)/log"
        ).waitForExit(within: .seconds(30)) == 0
    }
}
