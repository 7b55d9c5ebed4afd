/// What a text wants of the coach.
enum CoachIntent: Equatable {
    case log([MealReading.Meal])
    /// "Actually 500": the last meal was something else.
    case correct(calories: Double, label: String)
    /// "Only had half of it."
    case scale(Double)
    case setGoal(Double)
    case tellGoal
    case undo
    /// "Remove the pizza."
    case remove(String)
    case clear
    case status
    case list
    case help
    case greeting
    case thanks
    case setTimeZone(String)
    case unknownTimeZone(String)
    /// "No lunch today."
    case skipped
    /// "Yesterday I had 2000."
    case yesterday
    case exercise
    /// "Can I have a 400 cal dessert?"
    case consider(Double?)
    /// A number that no meal has.
    case implausible(Double)
    /// "Water, 0 cal."
    case nothing
    /// Food without a number.
    case askCalories(label: String)
    case photo
    case emoji
    /// A keyword that opts out: whoever answers it is blocked anyway.
    case optOut
    case other

    /// What one meal can have, in kcal.
    static let plausibleMeal = 1.0...10_000
    static let plausibleGoal = 500.0...10_000
    /// More than this at once is a list of something else.
    static let mostMeals = 12

    /// - Parameter isAwaitingNumber: whether the coach has just asked how many calories something had.
    init(text: String, hasMedia: Bool = false, isAwaitingNumber: Bool = false) {
        let trimmed = String(text.prefix(MealLexer.longestText)).trimmed
        let phrase = CoachPhrase(trimmed)
        if trimmed.isEmpty {
            self = hasMedia ? .photo : .other
        } else if OptOut.isKeyword(trimmed) {
            self = .optOut
        } else if !trimmed.contains(where: { $0.isLetter || $0.isNumber }) {
            self = trimmed.allSatisfy { $0.isPunctuation } && trimmed.contains("?") ? .help : .emoji
        } else {
            self = phrase.command ?? Self.eaten(trimmed, phrase, hasMedia: hasMedia, isAwaiting: isAwaitingNumber)
        }
    }

    private static func eaten(
        _ text: String, _ phrase: CoachPhrase, hasMedia: Bool, isAwaiting: Bool
    ) -> CoachIntent {
        let reading = MealReading(text)
        let isQuestion = (phrase.isQuestion || phrase.isPlan) && !phrase.isCorrection
        if phrase.isYesterday { return .yesterday }
        if isQuestion { return .consider(reading.meals.first?.calories) }
        if reading.isNegative { return .implausible(-(reading.meals.first?.calories ?? 0)) }
        if reading.meals.contains(where: { $0.calories > plausibleMeal.upperBound }) || reading.meals.count > mostMeals
        {
            return .implausible(reading.meals.map(\.calories).max() ?? 0)
        }
        let meals = reading.meals.filter { plausibleMeal.contains($0.calories) }
        if meals.isEmpty, !reading.meals.isEmpty { return .nothing }
        if let first = meals.first {
            let isCorrection = meals.count == 1 && (phrase.isCorrection || phrase.isRestatement && !isAwaiting)
            return isCorrection ? .correct(calories: first.calories, label: first.label) : .log(meals)
        }
        return withoutCalories(reading, phrase, hasMedia: hasMedia, isAwaiting: isAwaiting)
    }

    private static func withoutCalories(
        _ reading: MealReading, _ phrase: CoachPhrase, hasMedia: Bool, isAwaiting: Bool
    ) -> CoachIntent {
        if let small = phrase.loneNumber {
            guard isAwaiting, plausibleMeal.contains(small) else { return .askCalories(label: "") }
            return .log([MealReading.Meal(label: "", calories: small)])
        }
        if let part = reading.fraction, reading.unpriced.isEmpty { return .scale(part) }
        if reading.isSkipped { return .skipped }
        if reading.isExercise { return .exercise }
        if hasMedia { return reading.unpriced.isEmpty ? .photo : .askCalories(label: reading.unpriced) }
        let names = !MealWords.mealNames.isDisjoint(with: phrase.words)
        let isShort = phrase.words.count <= 4 && !reading.unpriced.isEmpty && phrase.isAboutNobody
        if reading.hasOtherNumbers, !reading.isEating, !isShort { return .other }
        if reading.isEating || names || isShort { return .askCalories(label: reading.unpriced) }
        return .other
    }
}

extension String {
    var trimmed: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? start
        return String(self[start..<max(start, end)])
    }
}
