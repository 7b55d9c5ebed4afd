package import Foundation

/// A file of the repository that is made of the code.
package enum RepositoryFile {
    package static func url(_ path: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(path)").standardizedFileURL
    }

    /// What the file says; with ISTHMUS_WRITE_FILES in the environment, `text` is written to it first.
    package static func text(_ path: String, madeAs text: String) throws -> String {
        let url = url(path)
        if ProcessInfo.processInfo.environment["ISTHMUS_WRITE_FILES"] != nil {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        return try String(contentsOf: url, encoding: .utf8)
    }
}
