/// What a text says was eaten.
struct MealReading: Equatable {
    struct Meal: Equatable {
        /// "Chicken bowl"; empty if the text names none.
        var label: String
        var calories: Double
    }

    private(set) var meals: [Meal] = []
    /// What the text names without a number: "Burrito".
    private(set) var unpriced = ""
    /// As in "skipped lunch".
    private(set) var isSkipped = false
    /// As in "burned 300 cal running".
    private(set) var isExercise = false
    private(set) var isEating = false
    /// As in "only had half of it".
    private(set) var fraction: Double?
    /// Times, weights or small numbers that are no calories.
    private(set) var hasOtherNumbers = false
    private(set) var isNegative = false

    /// The words for the next meal, heard before its number, and how many it is of.
    private var carried: [String] = []
    private var carriedCount: Double?
    /// "100 cal per cookie": how many is still to come.
    private var awaitsCount = false

    init(_ text: String) {
        let pieces = MealPieces(MealLexer.tokens(of: text))
        hasOtherNumbers = pieces.hasOtherNumbers
        isNegative = pieces.isNegative
        let clauses = Self.clauses(of: pieces.pieces)
        for clause in clauses { take(clause) }
        if meals.isEmpty { unpriced = Self.label(carried) }
        if meals.count == 1, meals[0].label.isEmpty { meals[0].label = Self.label(carried) }
        settleTotal(clauses.flatMap(\.pieces))
    }

    private struct Clause {
        var pieces: [MealPieces.Piece] = []
        /// Joined to the one before by "and", not by a comma.
        var isJoined = false
        var words: [String] {
            pieces.compactMap { if case .word(let word) = $0 { word.lowercased() } else { nil } }
        }
        var hasAmount: Bool {
            pieces.contains { if case .amount = $0 { true } else { false } }
        }
        /// "300, not 400", "2 slices, not 3".
        var deniesNumber: Bool {
            zip(pieces, pieces.dropFirst()).contains { word, number in
                switch number {
                case .amount, .count: word == .word("not")
                default: false
                }
            }
        }
    }

    private static func clauses(of pieces: [MealPieces.Piece]) -> [Clause] {
        var clauses = [Clause()]
        for piece in pieces {
            switch piece {
            case .stop: clauses.append(Clause())
            case .and: clauses.append(Clause(isJoined: true))
            default: clauses[clauses.count - 1].pieces.append(piece)
            }
        }
        return clauses.filter { !$0.pieces.isEmpty }
    }

    private mutating func take(_ clause: Clause) {
        let words = clause.words
        if Self.isNegated(clause) {
            let isAboutMeal = !MealWords.aboutEating.isDisjoint(with: words)
            isSkipped = isSkipped || clause.hasAmount || isAboutMeal
            carried = []
        } else if !MealWords.notFood.isDisjoint(with: words) {
            hasOtherNumbers = true
            carried = []
        } else if !MealWords.exercise.isDisjoint(with: words) {
            isExercise = true
            carried = []
        } else {
            isEating = isEating || !MealWords.eating.isDisjoint(with: words)
            clause.hasAmount ? takeMeals(clause) : takeWords(clause)
        }
    }

    /// "didn't eat the cake", "no lunch today", "no dressing", but not "no sugar latte 90".
    private static func isNegated(_ clause: Clause) -> Bool {
        let words = clause.words
        let hasAmount = clause.hasAmount
        if words.contains("no") { return !hasAmount }
        if clause.deniesNumber { return false }
        guard let at = words.firstIndex(where: MealWords.negations.contains) else { return false }
        return hasAmount ? words[at] != "without" && words[at] != "not" : words[at] != "without"
    }

    private mutating func takeWords(_ clause: Clause) {
        for piece in clause.pieces {
            if case .fraction(let part) = piece { fraction = part }
        }
        if awaitsCount, let count = Self.count(clause.pieces) {
            meals[meals.count - 1].calories *= count
            awaitsCount = false
        }
        let words = Self.trimmed(Self.texts(clause.pieces[...]))
        guard !words.allSatisfy({ MealWords.nutrients.contains($0.lowercased()) }) else { return }
        carriedCount = Self.count(clause.pieces)
        carried = Self.join(carried, words, isJoined: clause.isJoined)
    }

    /// "eggs 140 toast 90", "140 for eggs", "half of a 600 cal burrito", "2 slices at 285 each".
    private mutating func takeMeals(_ clause: Clause) {
        var words: [MealPieces.Piece] = []
        var rest = clause.pieces[...]
        var isFirst = true
        while let at = rest.firstIndex(where: { if case .amount = $0 { true } else { false } }),
            case .amount(let amount) = rest[at]
        {
            words = Array(rest[..<at])
            rest = rest[(at + 1)...]
            var label = Self.trimmed(Self.texts(words[...]))
            let isStory = !clause.isJoined && !label.isEmpty && !MealWords.past.isDisjoint(with: clause.words)
            if isFirst, !isStory { label = Self.join(carried, label, isJoined: clause.isJoined) }
            let following = rest.prefix { if case .amount = $0 { false } else { true } }
            var factor = Self.adjective(words) ?? 1
            if label.isEmpty || label.count == 1 && MealWords.mealNames.contains(label[0].lowercased()) {
                let after = Self.trimmed(Self.texts(following))
                if !after.isEmpty, following.endIndex == rest.endIndex || label.isEmpty {
                    label = after
                    rest = rest[following.endIndex...]
                }
            }
            if amount.isEach {
                let count = Self.count(words) ?? (isFirst ? carriedCount : nil) ?? Self.count(Array(following))
                awaitsCount = count == nil
                factor *= count ?? 1
            }
            let isDenied = words.last == .word("not")
            let meal = Meal(label: Self.label(label), calories: (amount.calories * factor).rounded())
            if isFirst, !isDenied, ["actually", "wait", "sorry"].contains(clause.words.first), !meals.isEmpty {
                meals[meals.count - 1].calories = meal.calories
            } else if !isDenied {
                meals.append(meal)
            }
            isFirst = false
        }
        carried = []
        carriedCount = nil
    }

    /// "eggs 140 + toast 90 = 230": the total is the truth, and not one meal more.
    private mutating func settleTotal(_ pieces: [MealPieces.Piece]) {
        let amounts = pieces.compactMap { if case .amount(let amount) = $0 { amount } else { nil } }
        guard meals.count > 1, let total = amounts.last(where: \.isTotal), amounts.count == meals.count,
            let at = amounts.lastIndex(of: total)
        else { return }
        let calories = meals[at].calories
        meals.remove(at: at)
        guard meals.reduce(0, { $0 + $1.calories }) != calories else { return }
        let names = meals.map(\.label).filter { !$0.isEmpty }
        let words = names.joined(separator: ", ").split(separator: " ").map(String.init)
        meals = [Meal(label: Self.label(words), calories: calories)]
    }

    /// A fraction that stands before the amount with nothing but an article between: it makes the amount smaller.
    private static func adjective(_ words: [MealPieces.Piece]) -> Double? {
        for piece in words.reversed() {
            switch piece {
            case .fraction(let part): return part
            case .word(let word) where ["of", "a", "an", "the", "my", "this", "that"].contains(word.lowercased()):
                continue
            default: return nil
            }
        }
        return nil
    }

    private static func count(_ pieces: [MealPieces.Piece]) -> Double? {
        pieces.lazy.compactMap { if case .count(let count, _) = $0 { count } else { nil } }.first
    }

    private static func texts(_ pieces: ArraySlice<MealPieces.Piece>) -> [String] {
        pieces.compactMap { piece in
            switch piece {
            case .word(let word): word
            case .count(_, let text): text
            case .fraction(let part): [0.5: "half", 0.25: "¼", 0.75: "¾"][part]
            case .amount, .stop, .and: nil
            }
        }
    }

    /// The words without what only stands around a name.
    private static func trimmed(_ words: [String]) -> [String] {
        func isFiller(_ word: String) -> Bool { MealWords.filler.contains(word.lowercased()) }
        if let verb = words.lastIndex(where: { MealWords.past.contains($0.lowercased()) }) {
            let object = trimmed(Array(words[(verb + 1)...]))
            if words[verb].lowercased() != "was" { return object }
        }
        let start = words.firstIndex { !isFiller($0) } ?? words.endIndex
        let end = words.lastIndex { !isFiller($0) && !["half", "¼", "¾"].contains($0.lowercased()) } ?? start - 1
        let name = start <= end ? Array(words[start...end]) : []
        return name.map { $0.lowercased() } == ["no"] ? [] : name
    }

    /// "chicken" and "rice" are one meal if an "and" joins them, or if both are short: a story before a comma is not.
    private static func join(_ before: [String], _ words: [String], isJoined: Bool) -> [String] {
        if words.isEmpty || before.isEmpty { return before + words }
        if isJoined { return before + ["and"] + words }
        guard before.count <= 3, words.count <= 3, let last = before.last else { return words }
        return before.dropLast() + [last + ","] + words
    }

    /// The longest name, so that with its calories it fits into 40 characters.
    static let longestLabel = 26

    private static func label(_ words: [String]) -> String {
        var label = ""
        for word in words {
            let longer = label.isEmpty ? word : "\(label) \(word)"
            guard longer.count <= longestLabel else {
                label = label.isEmpty ? String(word.prefix(longestLabel - 1)) + "…" : label + "…"
                break
            }
            label = longer
        }
        return label.prefix(1).uppercased() + label.dropFirst()
    }
}
