/// A text's tokens, each number understood: calories, a count, or nothing to do with food.
struct MealPieces {
    enum Piece: Equatable {
        case amount(Amount)
        /// "two eggs".
        case count(Double, text: String)
        case fraction(Double)
        case word(String)
        /// A comma or the end of a sentence.
        case stop
        /// "and", "+".
        case and
    }

    struct Amount: Equatable {
        var calories: Double
        /// Whether it said so ("600 kcal"), or only stands where calories stand.
        var isExplicit: Bool
        /// "285 each".
        var isEach = false
        /// "500 in total".
        var isTotal = false
    }

    private(set) var pieces: [Piece] = []
    /// A time, a weight or the like was there.
    private(set) var hasOtherNumbers = false
    private(set) var isNegative = false

    private let tokens: [MealLexer.Token]
    private var index = 0

    /// Without a unit, what is smaller is a number of something.
    static let smallestBareAmount = 20.0
    /// Without a unit and before a word, what is smaller is a number of that: "24 nuggets".
    static let smallestBareAmountBeforeWord = 100.0

    init(_ tokens: [MealLexer.Token]) {
        self.tokens = tokens
        if case .mark("-")? = tokens.first, tokens.count > 1, case .number = tokens[1] { isNegative = true }
        while index < tokens.count { readNext() }
    }

    private func token(_ position: Int) -> MealLexer.Token? {
        tokens.indices.contains(position) ? tokens[position] : nil
    }

    private func word(_ position: Int) -> String? {
        if case .word(let word)? = token(position) { word.lowercased() } else { nil }
    }

    private func number(_ position: Int) -> Double? {
        if case .number(let value, _, _)? = token(position) { value } else { nil }
    }

    private func isUnit(_ position: Int) -> Bool { word(position).map(MealWords.calorieUnits.contains) ?? false }

    private mutating func readNext() {
        switch tokens[index] {
        case .number(let value, let text, let isWord): readNumber(value, text, isWord)
        case .time:
            hasOtherNumbers = true
            index += 1
            if let next = word(index), MealWords.clock.contains(next) { index += 1 }
        case .fraction(let part): append(.fraction(part))
        case .word(let word): readWord(word)
        case .mark(let mark): readMark(mark)
        }
    }

    private mutating func append(_ piece: Piece) {
        pieces.append(piece)
        index += 1
    }

    private mutating func readWord(_ word: String) {
        let lower = word.lowercased()
        if MealWords.connectives.contains(lower) {
            append(.and)
        } else if let part = MealWords.fractions[lower] {
            append(.fraction(part))
        } else if MealWords.calorieUnits.contains(lower) {
            index += 1
            // "calories: 600"
            if let value = number(index), !isUnit(index + 1) {
                index += 1
                addAmount(value, isExplicit: true)
            }
        } else if MealWords.totals.contains(lower) {
            index += 1
            if case .amount(var amount)? = pieces.last, number(index) == nil {
                amount.isTotal = true
                pieces[pieces.count - 1] = .amount(amount)
            } else {
                pieces.append(.word(word))
            }
        } else {
            append(.word(word))
        }
    }

    private mutating func readMark(_ mark: Character) {
        switch mark {
        case ",", ".": append(.stop)
        case "+": append(.and)
        case "=": append(.word("total"))
        case "@": append(.word("at"))
        case "$":
            index += 1
            if number(index) != nil {
                hasOtherNumbers = true
                index += 1
            }
        default: index += 1
        }
    }

    private mutating func readNumber(_ first: Double, _ text: String, _ isWord: Bool) {
        if isChain() { return }
        let isAtEach = token(index - 1) == .mark("@")
        var value = first
        var text = text
        var isProduct = false
        var next = index + 1
        if let upper = rangeEnd(next), upper.value > value {
            value = (value + upper.value) / 2
            text += "-\(upper.text)"
            next = upper.next
        } else if token(next) == .mark("x"), let factor = number(next + 1) {
            value *= factor
            isProduct = true
            next += 2
        } else if token(next) == .mark("x"), word(next + 1) != nil {
            pieces.append(.count(value, text: text))
            index = next + 1
            return
        }
        if isOther(value, next) { return }
        if let after = word(next), MealWords.kilojoules.contains(after) {
            index = next + 1
            addAmount(value / 4.184, isExplicit: true)
        } else if isUnit(next) {
            index = next + 1
            addAmount(value, isExplicit: true)
        } else if value <= 20, let calories = number(next), isUnit(next + 1) {
            // "two 150 cal yogurts"
            index = next + 2
            addAmount(calories * value, isExplicit: true)
        } else if isCount(value, next, isWord: isWord, isProduct: isProduct) {
            pieces.append(.count(value, text: token(index - 1) == .mark("x") ? "×\(text)" : text))
            index = next
        } else {
            index = next
            addAmount(value, isExplicit: false)
        }
        if isAtEach, case .amount(var amount)? = pieces.last {
            amount.isEach = true
            pieces[pieces.count - 1] = .amount(amount)
        }
    }

    /// Passes over "555-123-4567", "2026-02-05" and "12/25".
    private mutating func isChain() -> Bool {
        var next = index + 1
        var links = 0
        while token(next) == .mark("-") || token(next) == .mark("/"), number(next + 1) != nil {
            links += token(next) == .mark("/") ? 2 : 1
            next += 2
        }
        guard links > 1 else { return false }
        hasOtherNumbers = true
        index = next
        return true
    }

    /// The far end of "500-600", "between 500 and 600" or "500 cal to 600 cal", given where the dash may be.
    private func rangeEnd(_ position: Int) -> (value: Double, text: String, next: Int)? {
        let dash = isUnit(position) ? position + 1 : position
        let isBetween = word(index - 1) == "between" && word(dash) == "and"
        let isRange = token(dash) == .mark("-") || word(dash).map(MealWords.rangeWords.contains) ?? false
        guard isRange || isBetween, case .number(let value, let text, _)? = token(dash + 1) else { return nil }
        return (value, text, dash + 2)
    }

    /// Passes over a number that has nothing to do with calories: a time, a weight, grams of protein, a phone number.
    private mutating func isOther(_ value: Double, _ next: Int) -> Bool {
        let after = word(next) ?? ""
        let before = word(index - 1) ?? ""
        let isAge = ["i'm", "im", "am"].contains(before) && !isUnit(next)
        let isTime =
            MealWords.beforeTime.contains(before) && value <= 24 && !isUnit(next)
            && !MealWords.each.contains(after) && number(next) == nil
        if MealWords.measures.contains(after) || MealWords.nutrients.contains(after) {
            index = next + 1
            if let nutrient = word(index), MealWords.nutrients.contains(nutrient) { index += 1 }
        } else if MealWords.clock.contains(after) || token(next) == .mark("%") {
            index = next + 1
        } else if isTime || isAge || value >= 1_000_000 && !isUnit(next) {
            index = next
        } else {
            return false
        }
        hasOtherNumbers = true
        return true
    }

    private func isCount(_ value: Double, _ next: Int, isWord: Bool, isProduct: Bool) -> Bool {
        if isWord || value < Self.smallestBareAmount { return !isProduct }
        if token(index - 1) == .mark("x") { return true }
        guard let after = word(next), !MealWords.afterAmount.contains(after) else { return false }
        return value < Self.smallestBareAmountBeforeWord
    }

    private mutating func addAmount(_ calories: Double, isExplicit: Bool) {
        var amount = Amount(calories: calories, isExplicit: isExplicit)
        if case .word(let before)? = pieces.last, MealWords.totals.contains(before.lowercased()) {
            amount.isTotal = true
            pieces.removeLast()
        }
        if let after = word(index), MealWords.each.contains(after) {
            amount.isEach = true
            index += after == "per" ? 2 : 1
        } else if word(index) == "a", let piece = word(index + 1), ["piece", "slice", "pop"].contains(piece) {
            amount.isEach = true
            index += 2
        } else if word(index) == "in", let total = word(index + 1), MealWords.totals.contains(total) {
            amount.isTotal = true
            index += 2
        }
        pieces.append(.amount(amount))
    }
}
