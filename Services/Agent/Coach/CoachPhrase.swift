/// A text in lower case without its punctuation, and what its wording asks for.
struct CoachPhrase {
    let text: String
    let words: [String]
    /// The text without "please" and the like around it.
    private let core: String
    private let isAsking: Bool

    init(_ original: String) {
        let plain = original.lowercased().map { character -> Character in
            if character == "’" || character == "‘" { return "'" }
            return character.isLetter || character.isNumber || "'+-/_.,".contains(character) ? character : " "
        }
        words = String(plain).split(separator: " ").compactMap { word in
            let trimmed = word.drop { ".,-'".contains($0) }
            let end = trimmed.lastIndex { !".,-'".contains($0) }
            return end.map { String(trimmed[...$0]) }
        }
        text = words.joined(separator: " ")
        var polite = words.drop(while: Self.politeness.contains)
        while let last = polite.last, Self.politeness.contains(last) { polite.removeLast() }
        core = polite.joined(separator: " ")
        isAsking = original.contains("?")
    }

    /// What the text tells the coach to do, unless it tells of food.
    var command: CoachIntent? {
        if let goal { return goal }
        if let timeZone { return timeZone }
        if Self.undos.contains(text) || Self.undos.contains(core) { return .undo }
        if Self.clears.contains(text) || Self.clears.contains(core) { return .clear }
        if let removal { return removal }
        if Self.lists.contains(text) || Self.lists.contains(core) { return .list }
        if Self.helps.contains(text) || Self.helps.contains(core) { return .help }
        if isStatus { return .status }
        if Self.thanks.contains(text) || words.count <= 4 && Self.thanking.contains(words.first ?? "") {
            return words.contains { $0.contains(where: \.isNumber) } ? nil : .thanks
        }
        return isGreeting ? .greeting : nil
    }

    /// "remove the pizza".
    private var removal: CoachIntent? {
        for beginning in ["remove ", "delete ", "take off ", "drop the ", "undo the "] where core.hasPrefix(beginning) {
            var name = core.dropFirst(beginning.count).split(separator: " ").map(String.init)
            while let first = name.first, ["the", "my", "that", "last"].contains(first) { name.removeFirst() }
            return name.isEmpty ? .undo : .remove(name.joined(separator: " "))
        }
        return nil
    }

    private var isGreeting: Bool {
        guard let first = words.first, words.count <= 4, Self.greetings.contains(first) else { return false }
        return words.dropFirst().allSatisfy(Self.afterGreeting.contains)
    }

    private var isStatus: Bool {
        if Self.statuses.contains(text) { return true }
        guard !words.contains(where: { $0.contains(where: \.isNumber) }) else { return false }
        return Self.statusBeginnings.contains { text.hasPrefix($0) }
    }

    /// "goal 2100", "set my goal to 2,000", "what's my goal?".
    private var goal: CoachIntent? {
        guard words.contains("goal") || words.contains("target") else { return nil }
        var numbers: [Double] = []
        for word in words where !Self.aroundGoal.contains(word) && !MealWords.calorieUnits.contains(word) {
            guard word.first?.isNumber ?? false else { return nil }
            for case .number(let value, _, _) in MealLexer.tokens(of: word) { numbers.append(value) }
        }
        switch numbers.count {
        case 0: return isAsking || words.count <= 3 || text.hasPrefix("what") ? .tellGoal : nil
        case 1: return .setGoal(numbers[0])
        default: return nil
        }
    }

    /// "my timezone is Europe/Berlin", "I'm in Tokyo".
    private var timeZone: CoachIntent? {
        for beginning in Self.zoneBeginnings where text.hasPrefix(beginning) {
            let place = String(text.dropFirst(beginning.count))
            return PlaceNames.timeZone(of: place).map { .setTimeZone($0) } ?? .unknownTimeZone(place)
        }
        for beginning in Self.placeBeginnings where text.hasPrefix(beginning) {
            var place = words.dropFirst(beginning.split(separator: " ").count)
            while let last = place.last, ["now", "today", "currently", "again"].contains(last) { place.removeLast() }
            return PlaceNames.timeZone(of: place.joined(separator: " ")).map { .setTimeZone($0) }
        }
        return nil
    }

    /// "yesterday I had 2000", but not "pizza from yesterday 400".
    var isYesterday: Bool {
        if text.contains("last night") && !text.contains("last night's") && !text.contains("from last night") {
            return true
        }
        guard let at = words.firstIndex(of: "yesterday") else { return false }
        return at == 0 || words[at - 1] != "from"
    }

    /// "how many calories are in a bagel", "should I have a 400 cal dessert?".
    var isQuestion: Bool {
        guard let first = words.first else { return false }
        if Self.askingLeave.contains(first), words.count > 1 { return Self.askers.contains(words[1]) }
        if isAsking { return Self.questions.contains(first) || Self.weakQuestions.contains(first) }
        return Self.questions.contains(first) && MealWords.past.isDisjoint(with: words)
    }

    /// "gonna have a 500 cal dinner": not eaten yet.
    var isPlan: Bool {
        guard MealWords.past.isDisjoint(with: words) else { return false }
        return !MealWords.future.isDisjoint(with: words)
            || ["going to have", "going to eat", "want to eat", "thinking of"].contains { text.contains($0) }
    }

    /// "actually 500", "no, 550", "make that 450".
    var isCorrection: Bool {
        guard let first = words.first else { return false }
        if ["actually", "correction", "oops", "sorry", "nope"].contains(first) {
            return !words.contains("had") && !words.contains("ate")
        }
        if first == "no", words.count > 1 {
            return words[1].first?.isNumber ?? false || Self.afterNo.contains(words[1])
        }
        if words.count > 2, words[words.count - 2] == "not", words[words.count - 1].first?.isNumber ?? false {
            return true
        }
        return Self.corrections.contains { text.hasPrefix($0) }
    }

    /// "it was 480": a correction, unless the coach has just asked.
    var isRestatement: Bool { ["it was", "that was", "it's", "that's"].contains { text.hasPrefix($0 + " ") } }

    /// A text that is one number below those that count by themselves.
    var loneNumber: Double? {
        guard words.count == 1, let value = Double(words[0]), value < MealPieces.smallestBareAmount else { return nil }
        return value
    }

    /// Not a sentence about the writer or the coach, so perhaps the name of a food.
    var isAboutNobody: Bool { Self.people.isDisjoint(with: words) }

    private static let politeness: Set<String> = [
        "please", "pls", "can", "could", "you", "hey", "ok", "okay", "coach", "oops", "wait", "thanks", "just", "hi",
        "i",
    ]
    private static let afterNo: Set<String> = ["it", "that", "i", "actually", "make", "about", "more"]
    private static let people: Set<String> = [
        "i", "i'm", "im", "you", "you're", "he", "she", "we", "they", "my", "me", "is", "are", "am", "feel", "lol",
        "haha", "u", "ur", "what", "why", "who", "sorry", "yes", "no", "maybe", "sure", "bye", "nice", "good", "great",
        "cool",
    ]
    private static let undos: Set<String> = [
        "undo", "undo that", "undo last", "undo it", "undo please", "please undo", "scratch that", "scratch it",
        "delete that", "delete last", "delete the last one", "delete the last meal", "delete last meal", "remove that",
        "remove last", "remove the last one", "remove last meal", "remove the last meal", "take that back",
        "take it back", "cancel", "cancel that", "cancel last", "oops undo", "oops undo that", "no undo", "revert",
        "forget that", "forget it", "ignore that", "strike that", "never mind that", "nvm undo",
    ]
    private static let clears: Set<String> = [
        "delete all", "delete everything", "reset", "reset today", "reset my day", "reset day", "clear", "clear all",
        "clear today", "clear my day", "start over", "restart", "undo all", "undo everything", "remove all",
    ]
    private static let lists: Set<String> = [
        "what did i eat", "what did i eat today", "what have i eaten", "what have i eaten today", "what i ate", "list",
        "list meals", "list my meals", "meals", "my meals", "show meals", "show my meals", "show me my meals",
        "what did i log", "what have i logged", "what's logged", "food log", "my log", "show log", "show my log",
        "what did i have today", "what did i have", "today's meals",
    ]
    private static let helps: Set<String> = [
        "help", "help me", "commands", "what can you do", "how does this work", "how do you work", "how do i use this",
        "what can i say", "what do you do", "instructions", "info", "menu", "who are you", "who is this", "who's this",
        "hilfe", "ayuda", "aide",
    ]
    private static let statuses: Set<String> = [
        "status", "total", "totals", "my total", "today's total", "today", "progress", "summary", "so far", "balance",
        "what's left", "whats left", "what is left", "how much left", "how much is left", "calories left", "remaining",
        "calories", "my calories", "calories today", "streak", "my streak", "what's my streak", "whats my streak",
        "score", "stats", "my stats", "how long is my streak", "where am i", "what's the damage", "am i on track",
        "am i over", "did i hit my goal", "did i reach my goal", "and now", "total so far",
    ]
    private static let statusBeginnings = [
        "how am i", "how'm i", "how are we doing", "how many calories do i have", "how many calories have i",
        "how many calories did i", "how many calories left", "how many cals left", "how many left",
        "how many do i have left",
        "how much can i", "how much do i have", "how much have i", "how many calories can i", "how many more",
        "where am i at", "where do i stand", "what's my total", "whats my total", "what is my total", "what's my count",
        "what am i at", "how's my day", "hows my day", "how is my day", "how far am i", "how close am i",
        "show my total",
        "what's my progress", "how many cals do i have", "how many calories today",
    ]
    private static let greetings: Set<String> = [
        "hi", "hello", "hey", "heya", "hiya", "yo", "morning", "evening", "good", "sup", "howdy", "hola", "hallo",
        "bonjour", "salut", "ciao", "gm", "start", "unstop", "optin", "greetings",
    ]
    private static let afterGreeting: Set<String> = [
        "coach", "there", "morning", "evening", "afternoon", "day", "night", "again", "you", "buddy", "hey", "hi",
        "hello", "to", "everyone", "friend", "all",
    ]
    private static let thanks: Set<String> = [
        "ok", "okay", "k", "kk", "cool", "great", "nice", "awesome", "perfect", "got it", "sounds good", "good", "yay",
        "lol", "haha", "love it", "yes", "yep", "yeah", "no", "nope", "sure", "bye", "good bot", "amazing", "danke",
        "gracias", "merci", "gotcha", "will do", "alright", "right", "sweet", "woohoo", "great job", "well done",
        "you're the best", "bye bye", "see you", "later", "never mind", "nevermind", "nvm", "no worries",
    ]
    private static let thanking: Set<String> = ["thanks", "thank", "thx", "ty", "tysm", "cheers"]
    private static let aroundGoal: Set<String> = [
        "goal", "target", "set", "reset", "change", "make", "update", "my", "new", "daily", "to", "is", "of", "at",
        "the", "as",
        "for", "please", "can", "you", "i", "want", "should", "be", "let's", "lets", "day", "a", "per", "now", "today",
        "it", "raise", "lower", "increase", "decrease", "coach", "hey", "what's", "what", "whats", "from", "on",
        "about",
        "ok", "hi", "and", "calorie", "adjust", "put", "current", "tell", "me", "show", "would", "like", "a",
    ]
    private static let zoneBeginnings = [
        "my timezone is ", "my time zone is ", "timezone is ", "time zone is ", "set timezone to ", "set time zone to ",
        "set my timezone to ", "set my time zone to ", "change timezone to ", "change my timezone to ",
        "change time zone to ", "change my time zone to ", "timezone ", "time zone ", "tz ",
    ]
    private static let placeBeginnings = [
        "i'm in ", "im in ", "i am in ", "now in ", "i moved to ", "moved to ", "i've moved to ", "landed in ",
        "just landed in ", "i landed in ", "arrived in ", "i live in ", "i'm now in ", "i am now in ", "based in ",
        "we're in ", "i'm back in ", "back in ", "in ", "je suis à ", "estoy en ", "ich bin in ",
    ]
    private static let questions: Set<String> = [
        "how", "what", "what's", "whats", "which", "why", "when", "where", "who", "does",
    ]
    /// "can of coke 139" is no question, "can I have a coke" is.
    private static let askingLeave: Set<String> = ["can", "could", "should", "would", "may"]
    private static let askers: Set<String> = ["i", "we", "you", "it", "that", "a", "the", "one"]
    private static let weakQuestions: Set<String> = ["is", "are", "do", "am", "if", "will", "did", "was"]
    private static let corrections = [
        "make that ", "make it ", "change that to ", "change it to ", "change to ", "should be ", "it should be ",
        "that should be ", "should have been ", "i meant ", "i mean ", "meant ", "wait ", "it was actually ",
        "it's actually ", "that was actually ", "it was more like ", "more like ", "rather ", "fix that to ", "edit ",
    ]
}
