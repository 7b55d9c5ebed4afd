import Shared

/// The conversation so far, as a language model is told it; stored as the user's model.
struct ModelMemory: Codable, Sendable, Equatable {
    struct Entry: Codable, Sendable, Equatable {
        /// "user" or "assistant".
        var role: String
        var content: String
    }

    static let mostEntries = 40
    static let mostCharacters = 16_000

    /// The oldest first.
    private(set) var entries: [Entry] = []

    /// Adds an entry; what is oldest goes when there is too much.
    mutating func add(_ role: String, _ content: String) {
        entries.append(Entry(role: role, content: content))
        var characters = entries.reduce(0) { $0 + $1.content.count }
        while entries.count > Self.mostEntries || characters > Self.mostCharacters, entries.count > 1 {
            characters -= entries.removeFirst().content.count
        }
    }
}
