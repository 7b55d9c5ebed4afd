import Foundation
import Shared

/// What the coach remembers of one user: the meals of their day, and how the days before went.
package struct CoachModel: Codable, Sendable, Equatable {
    struct Meal: Codable, Sendable, Equatable {
        var id: Int
        /// "Chicken bowl".
        var label: String
        /// In kcal.
        var calories: Int
        /// The message that told of it: if that is edited, so is the meal.
        var messageID: String?
    }

    /// One step back: what was added and what it replaced.
    struct Change: Codable, Sendable, Equatable {
        var added: [Int] = []
        var removed: [Meal] = []
        /// Where among the meals the removed ones stood.
        var position = 0
        var goal: Int?
    }

    /// A day that is over.
    struct PastDay: Codable, Sendable, Equatable {
        var day: Int
        var calories: Int
        var goal: Int
        var meals: Int
    }

    /// Food that was named without a number; the next number is taken for it.
    struct Question: Codable, Sendable, Equatable {
        var label: String
        var messageID: String?
    }

    static let mostMealsADay = 100
    static let mostChanges = 10
    static let firstGoal = 2000

    /// The IANA name of the time zone that the user told us.
    var timeZone: String?
    /// The day that `meals` are of, in days since 1970 where the user is.
    var day: Int?
    var meals: [Meal] = []
    var goal = Self.firstGoal
    /// The days in a row that had a meal, up to and with `streakDay`, which lies before `day`.
    var pastStreak = 0
    var streakDay: Int?
    /// The day before, until the user has been told of it.
    var yesterday: PastDay?
    var changes: [Change] = []
    var question: Question?
    var nextID = 1
    /// Replies so far: what varies in them varies with this.
    var turns = 0

    package init() {}

    var calories: Int { meals.reduce(0) { $0 + $1.calories } }
    var left: Int { goal - calories }

    /// Days in a row with at least one meal: today counts once it has one, and until it ends the row is not broken.
    var streak: Int {
        guard let day else { return 0 }
        let isUnbroken = streakDay.map { $0 >= day - 1 } ?? false
        return (isUnbroken ? pastStreak : 0) + (meals.isEmpty ? 0 : 1)
    }

    var contentState: CoachAttributes.ContentState {
        CoachAttributes.ContentState(
            calories: calories, goal: goal, streak: streak, lastMeal: meals.last?.summary ?? "No meals yet")
    }

    /// Begins a new day, if midnight has passed where the user is.
    ///
    /// A day never begins twice, wherever they fly.
    mutating func begin(_ today: Int) {
        guard let day, today > day else {
            self.day = day ?? today
            return
        }
        if !meals.isEmpty {
            pastStreak = streak
            streakDay = day
            yesterday = PastDay(day: day, calories: calories, goal: goal, meals: meals.count)
        }
        self.day = today
        meals = []
        changes = []
        question = nil
    }

    /// Puts `new` meals in the place of those at `range` and remembers how to take that back.
    mutating func replace(
        _ range: Range<Int>, with new: [MealReading.Meal], messageID: String?
    ) {
        let added = new.enumerated().map { offset, meal in
            Meal(
                id: nextID + offset, label: meal.label.isEmpty ? "Meal" : meal.label, calories: Int(meal.calories),
                messageID: messageID)
        }
        nextID += new.count
        remember(Change(added: added.map(\.id), removed: Array(meals[range]), position: range.lowerBound))
        meals.replaceSubrange(range, with: added)
    }

    mutating func append(_ new: [MealReading.Meal], messageID: String?) {
        replace(meals.count..<meals.count, with: new, messageID: messageID)
    }

    func hasRoom(for more: Int) -> Bool { meals.count + more <= Self.mostMealsADay }

    mutating func setGoal(_ new: Int) {
        remember(Change(goal: goal))
        goal = new
    }

    /// Takes the last change back and says what it was; `nil` if there is none.
    mutating func undo() -> (change: Change, undone: [Meal])? {
        guard let change = changes.popLast() else { return nil }
        let undone = meals.filter { change.added.contains($0.id) }
        meals.removeAll { change.added.contains($0.id) }
        meals.insert(contentsOf: change.removed, at: min(change.position, meals.count))
        if let goal = change.goal { self.goal = goal }
        return (change, undone)
    }

    private mutating func remember(_ change: Change) {
        changes.append(change)
        if changes.count > Self.mostChanges { changes.removeFirst() }
    }
}

extension CoachModel.Meal {
    /// "Chicken bowl · 600 cal".
    var summary: String { "\(label) · \(calories) cal" }
}

extension CoachModel {
    /// Whole days since 1970 on the calendar of `zone`; it turns at midnight there, also on days with 23 or 25 hours.
    static func day(of moment: Date, in zone: TimeZone) -> Int {
        let local = moment.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: moment))
        return Int((local / 86400).rounded(.down))
    }
}
