#if canImport(ActivityKit) && !os(macOS)
    public import ActivityKit

    extension BalanceAttributes: ActivityAttributes {}
#endif

/// A balance's card: money or points, and what moved them last.
public struct BalanceAttributes: IslandAttributes {
    public struct ContentState: Codable, Hashable, Sendable {
        /// In the unit's smallest part: cents of a currency, or points.
        public var balance: Int
        /// ISO 4217 ("USD"), or "points".
        public var unit: String
        /// The last change, negative when something was spent.
        public var lastChange: Int
        /// "Coffee at Ada's".
        public var lastEntry: String
        /// What the user saves up for, in the same unit.
        public var target: Int?

        public init(balance: Int, unit: String, lastChange: Int, lastEntry: String, target: Int? = nil) {
            self.balance = balance
            self.unit = unit
            self.lastChange = lastChange
            self.lastEntry = lastEntry
            self.target = target
        }
    }

    public var userID: String
    public var sessionID: String?

    public init(userID: String, sessionID: String? = nil) {
        self.userID = userID
        self.sessionID = sessionID
    }

    public static let example = ContentState(
        balance: 1840, unit: "points", lastChange: 120, lastEntry: "Two coffees", target: 2500)
    public static let startAlert = DesiredIsland.Alert(title: "Your balance", body: "It is on screen now.")
    public static let fieldNotes = [
        "balance": "in the unit's smallest part: cents of a currency, or points",
        "unit": "ISO 4217, such as USD, or points",
        "lastChange": "negative when something was spent",
        "target": "what the user saves up for, in the same unit",
    ]
}
