/// A text cut into numbers, words and marks.
struct MealLexer {
    enum Token: Equatable {
        /// `isWord`: written out, as in "two eggs".
        case number(Double, text: String, isWord: Bool = false)
        case word(String)
        /// A time of day, "12:30".
        case time
        /// A part of one: "1/2".
        case fraction(Double)
        /// A dash, "x" or "/" between numbers, or another sign: "-", "x", "=", "@", "%", "$", "+", ",", ".".
        case mark(Character)
    }

    private let characters: [Character]
    private var index = 0
    private var tokens: [Token] = []

    /// The tokens of `text`; words keep their case.
    static func tokens(of text: String) -> [Token] {
        var lexer = MealLexer(characters: Array(text.prefix(Self.longestText)))
        lexer.run()
        return joinNumberWords(lexer.tokens)
    }

    /// What is longer than this is no meal; the rest is not looked at.
    static let longestText = 2000

    private init(characters: [Character]) { self.characters = characters }

    private var current: Character? { index < characters.count ? characters[index] : nil }
    private func character(at position: Int) -> Character? {
        characters.indices.contains(position) ? characters[position] : nil
    }

    private mutating func run() {
        while let character = current {
            if character.isASCIIDigit {
                readNumber()
            } else if character.isWordPart {
                readWord()
            } else {
                if let mark = Self.marks[character] { tokens.append(.mark(mark)) }
                index += 1
            }
        }
    }

    private static let marks: [Character: Character] = [
        "-": "-", "–": "-", "—": "-", "−": "-", "×": "x", "*": "x", "/": "/", "=": "=", "@": "@", "%": "%", "$": "$",
        "€": "$", "£": "$", "+": "+", "&": "+", ",": ",", ";": ",", ".": ".", "!": ".", "?": ".", "\n": ".",
        "。": ".", "、": ",", "，": ",",
    ]

    private mutating func readWord() {
        let start = index
        while current?.isWordPart ?? false || isInnerHyphen { index += 1 }
        let word = String(characters[start..<index])
        switch word.lowercased() {
        case "w" where current == "/":
            tokens.append(.word("with"))
            index += 1
        case "½": tokens.append(.fraction(0.5))
        case "¼": tokens.append(.fraction(0.25))
        case "¾": tokens.append(.fraction(0.75))
        case "x": tokens.append(.mark("x"))
        default: tokens.append(.word(word))
        }
    }

    /// "stir-fry" is one word, and so is "m&ms".
    private var isInnerHyphen: Bool {
        (current == "-" || current == "&") && (character(at: index - 1)?.isLetter ?? false)
            && (character(at: index + 1)?.isLetter ?? false)
    }

    /// Reads "600", "1,200", "1.200", "250.5", "1'200", "12:30", "1/2", "1.2k".
    private mutating func readNumber() {
        let start = index
        var digits = readDigits()
        if current == ":", character(at: index + 1)?.isASCIIDigit ?? false {
            index += 1
            _ = readDigits()
            tokens.append(.time)
            return
        }
        if digits.count == 1, current == "/", let below = character(at: index + 1)?.wholeNumberValue, below > 1,
            below < 10, let above = Double(digits), above < Double(below),
            !(character(at: index + 2)?.isASCIIDigit ?? false)
        {
            index += 2
            tokens.append(.fraction(above / Double(below)))
            return
        }
        var fraction = ""
        while let sign = current, ",.'\u{a0}\u{202f}’".contains(sign), character(at: index + 1)?.isASCIIDigit ?? false {
            index += 1
            let group = readDigits()
            if group.count == 3, fraction.isEmpty, digits != "0" {
                digits += group
            } else {
                fraction = group
                break
            }
        }
        var value = Double("\(digits).\(fraction.isEmpty ? "0" : fraction)") ?? 0
        if current == "k" || current == "K", !(character(at: index + 1)?.isWordPart ?? false) {
            index += 1
            value *= 1000
        }
        tokens.append(.number(value, text: String(characters[start..<index])))
    }

    private mutating func readDigits() -> String {
        let start = index
        while current?.isASCIIDigit ?? false { index += 1 }
        return String(characters[start..<index])
    }

    /// "two" and "six hundred fifty" become numbers.
    private static func joinNumberWords(_ tokens: [Token]) -> [Token] {
        var joined: [Token] = []
        for token in tokens {
            guard case .word(let word) = token else {
                joined.append(token)
                continue
            }
            let lower = word.lowercased()
            if let scale = ["hundred": 100.0, "thousand": 1000.0][lower],
                case .number(let value, let text, _)? = joined.last, value < 100
            {
                joined[joined.count - 1] = .number(value * scale, text: "\(text) \(word)")
            } else if let value = numberWords[lower] {
                if case .number(let before, let text, false)? = joined.last, text.contains(" "), before >= 100 {
                    joined[joined.count - 1] = .number(before + value, text: "\(text) \(word)")
                } else {
                    joined.append(.number(value, text: word, isWord: true))
                }
            } else {
                joined.append(token)
            }
        }
        return joined
    }

    private static let numberWords: [String: Double] = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
        "seventy": 70, "eighty": 80, "ninety": 90, "couple": 2, "dozen": 12,
    ]
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
    fileprivate var isWordPart: Bool { isLetter || self == "'" || self == "½" || self == "¼" || self == "¾" }
}
