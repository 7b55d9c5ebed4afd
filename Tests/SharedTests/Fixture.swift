import Foundation
import Testing

/// Reads the golden files.
///
/// What stands in them is a contract: other processes and other versions hold to it.
enum Fixture {
    struct Missing: Error { let path: String }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root().appendingPathComponent(path)))
    }

    /// The names of the files and folders in a folder, sorted.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root().appendingPathComponent(folder).path).sorted()
    }

    private static func root() throws -> URL {
        guard let url = Bundle.module.url(forResource: "Fixtures", withExtension: nil) else {
            throw Missing(path: "Fixtures")
        }
        return url
    }
}

/// JSON as Foundation reads it, for comparing without regard to order and white space.
func jsonObject(_ bytes: [UInt8]) throws -> NSObject {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? NSObject)
}
