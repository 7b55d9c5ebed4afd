import Foundation

/// What outlives the app's process: this installation's id, and what is not told yet.
///
/// Everything in it can be found out again, because ActivityKit says it all anew at each launch, but for dismissals that
/// happened meanwhile; the list of what runs makes up for those. So a file that cannot be read is no reason to stop.
struct RegistrationFile: Sendable {
    struct Contents: Codable, Sendable, Equatable {
        var deviceID: String
        /// Whose reports these are; another user's are not theirs to send.
        var userID: String
        var pending: [ReportQueue.Pending]
    }

    private let url: URL

    init(folder: URL) { url = folder.appendingPathComponent("pending.json") }

    /// `nil` if there is no file yet.
    func load() throws -> Contents? {
        do {
            return try JSONDecoder().decode(Contents.self, from: Data(contentsOf: url))
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        }
    }

    /// Writes beside the old file and then takes its place: a process that is killed meanwhile leaves the old one whole.
    func save(_ contents: Contents) throws {
        var folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #if canImport(Darwin)
            // Tokens belong to this phone; a backup would bring them to another one.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            // Readable while the phone is locked, as a push wakes the app then, but not before it was unlocked once.
            try JSONEncoder().encode(contents).write(
                to: url, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        #else
            folder.standardize()
            try JSONEncoder().encode(contents).write(to: url, options: .atomic)
        #endif
    }
}
