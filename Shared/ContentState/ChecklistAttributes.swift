#if canImport(ActivityKit) && !os(macOS)
    public import ActivityKit

    extension ChecklistAttributes: ActivityAttributes {}
#endif

/// A checklist's card: how much is left, and what comes next.
public struct ChecklistAttributes: IslandAttributes {
    public struct ContentState: Codable, Hashable, Sendable {
        public var title: String
        public var done: Int
        public var total: Int
        /// The next thing to do; `nil` when all is done.
        public var next: String?
        /// What was ticked off last.
        public var lastDone: String?

        public init(title: String, done: Int, total: Int, next: String? = nil, lastDone: String? = nil) {
            self.title = title
            self.done = done
            self.total = total
            self.next = next
            self.lastDone = lastDone
        }
    }

    public var userID: String
    public var sessionID: String?

    public init(userID: String, sessionID: String? = nil) {
        self.userID = userID
        self.sessionID = sessionID
    }

    public static let example = ContentState(
        title: "Moving day", done: 3, total: 8, next: "Book the van", lastDone: "Pack the books")
    public static let startAlert = DesiredIsland.Alert(title: "Your list", body: "It is on screen now.")
    public static let fieldNotes = [
        "next": "the next thing to do; absent when all is done",
        "lastDone": "what was ticked off last",
    ]
}
