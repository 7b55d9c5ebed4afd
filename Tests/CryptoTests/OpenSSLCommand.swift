import Foundation
import TestSupport

/// The `openssl` program: an opinion about our output that is not our own.
enum OpenSSLCommand {
    /// Runs it and returns its exit status and what it printed.
    @discardableResult
    static func run(_ arguments: String..., in directory: String) async throws -> (status: Int32, output: String) {
        let log = "\(directory)/openssl-\(UUID().uuidString).log"
        let process = try LocalProcess.start(
            "/usr/bin/openssl", arguments, environment: [:], workingDirectory: directory, logFile: log)
        let status = try await process.waitForExit(within: .seconds(30))
        // Not `String(contentsOfFile:)`: Foundation leaks its buffer when the file is empty.
        let output = try FileHandle(forReadingFrom: URL(fileURLWithPath: log)).readToEnd() ?? Data()
        return (status, String(decoding: output, as: UTF8.self))
    }
}

func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
}

func read(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}
