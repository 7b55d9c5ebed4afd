#if canImport(ActivityKit) && !os(macOS)
    public import ActivityKit

    extension CoachAttributes: ActivityAttributes {}
#endif

/// The coach's card: the calories of a day against its goal.
public struct CoachAttributes: IslandAttributes {
    public struct ContentState: Codable, Hashable, Sendable {
        /// Eaten today, in kcal.
        public var calories: Int
        /// The day's goal, in kcal.
        public var goal: Int
        /// Days in a row with at least one meal logged.
        public var streak: Int
        /// "Chicken bowl · 600 cal".
        public var lastMeal: String

        public init(calories: Int, goal: Int, streak: Int, lastMeal: String) {
            self.calories = calories
            self.goal = goal
            self.streak = streak
            self.lastMeal = lastMeal
        }
    }

    public var userID: String
    public var sessionID: String?

    public init(userID: String, sessionID: String? = nil) {
        self.userID = userID
        self.sessionID = sessionID
    }

    public static let example = ContentState(
        calories: 1240, goal: 2100, streak: 6, lastMeal: "Chicken bowl · 600 cal")
    public static let startAlert = DesiredIsland.Alert(title: "Your day", body: "Your calories are on screen now.")
    public static let fieldNotes = [
        "calories": "eaten today, in kcal",
        "goal": "the day's goal, in kcal",
        "streak": "days in a row with at least one meal",
        "lastMeal": "such as Chicken bowl · 600 cal",
    ]
}
