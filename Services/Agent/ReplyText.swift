import Shared

/// A reply's text as Linq takes it: at most 10,000 characters a message.
enum ReplyText {
    /// Linq counts places in a text in UTF-16 units, so these are counted: a text that fits by them fits by code points
    /// and by letters as well.
    static let limit = 10_000

    /// The text in pieces that fit, none of which begins or ends within a letter; nothing of an empty text.
    ///
    /// A piece ends behind the last line end in its second half if there is one, or behind the last blank.
    static func split(_ text: String) -> [String] {
        var rest = Substring(text)
        var pieces: [String] = []
        while rest.utf16.count > limit {
            let end = self.end(of: rest)
            pieces.append(String(rest[..<end]))
            rest = rest[end...]
        }
        if !rest.isEmpty { pieces.append(String(rest)) }
        return pieces
    }

    private static func end(of text: Substring) -> String.Index {
        var units = 0
        var end = text.startIndex
        var lineEnd: String.Index?
        var blank: String.Index?
        for (index, letter) in zip(text.indices, text) {
            units += letter.utf16.count
            guard units <= limit else { break }
            end = text.index(after: index)
            guard units > limit / 2 else { continue }
            if letter.isNewline { lineEnd = end } else if letter.isWhitespace { blank = end }
        }
        if let natural = lineEnd ?? blank { return natural }
        // One letter with more marks on it than a message may have characters: it is cut between two of them.
        return end > text.startIndex ? end : scalarEnd(of: text)
    }

    private static func scalarEnd(of text: Substring) -> String.Index {
        var units = 0
        return text.unicodeScalars.indices.first { index in
            units += text.unicodeScalars[index].utf16.count
            return units > limit
        } ?? text.endIndex
    }
}

extension AgentReply {
    /// The parts of each message that the reply goes out as: media with the end of the text, a link by itself.
    var messages: [[MessagePart]] {
        var messages = ReplyText.split(text).map { [MessagePart(type: "text", value: $0)] }
        if !media.isEmpty {
            let end = messages.popLast() ?? []
            messages.append(end + media.map { MessagePart(type: "media", url: $0) })
        }
        if let link { messages.append([MessagePart(type: "link", value: link)]) }
        return messages
    }
}
