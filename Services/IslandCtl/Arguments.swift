/// The command or a setting was not understood: its author can put it right.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The far side said no.
struct Refused: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The far side said nothing.
struct NoAnswer: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A command, its words, and its options.
struct Arguments {
    let command: String?
    var words: [String] = []
    var options: [String: String] = [:]
    var isJSON = false

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        if rest.contains("--help") || rest.contains("-h") { rest = ["help"] }
        var words: [String] = []
        while let argument = rest.popFirst() {
            if argument == "--json" {
                isJSON = true
            } else if argument.hasPrefix("--") {
                guard let value = rest.popFirst() else { throw UsageError("\(argument) needs a value") }
                options[argument] = value
            } else {
                words.append(argument)
            }
        }
        command = words.first
        self.words = Array(words.dropFirst())
    }

    func require(words count: Int, options known: Set<String>) throws(UsageError) {
        if let other = options.keys.sorted().first(where: { !known.contains($0) }) {
            throw UsageError("unknown option \(other)")
        }
        guard words.count == count else { throw UsageError("\(command ?? ""): see islandctl --help") }
    }
}
