/// Reads JSON text once and notes where each value is.
///
/// It takes a narrower language than JSON, in which no two readers can see different things: no key twice, none with an
/// escape, no depth beyond reason, no text that is not UTF-8.
struct JSONScanner {
    struct Node {
        enum Kind: UInt8 { case null, yes, no, integer, number, text, escapedText, array, object }

        let kind: Kind
        /// Where the value's text begins and ends; a text's without its quotes.
        let start: Int32
        var end: Int32
        /// The first node after the value and all that is in it.
        var next: Int32
        /// How many elements or fields there are.
        var count: Int32 = 0
    }

    private struct Unusual: Error {}

    private static let deepest = 64
    /// A larger object would take long to be searched for keys that come twice.
    private static let mostFields = 64

    private let text: UnsafeBufferPointer<UInt8>
    private var at = 0
    private var nodes: [Node] = []

    /// The values of the text in their order, each before those that are in it; `nil` for anything out of the ordinary.
    static func nodes(of bytes: [UInt8]) -> [Node]? {
        guard bytes.count < 1 << 30 else { return nil }
        let found: [Node]? = bytes.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text)
            do {
                scanner.skipSpace()
                try scanner.value(depth: 0)
                scanner.skipSpace()
            } catch { return nil }
            guard scanner.at == text.count, JSONText.isASCII(text) || String(validating: text, as: UTF8.self) != nil
            else { return nil }
            return scanner.nodes
        }
        return found
    }

    private init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        nodes.reserveCapacity(text.count / 12 + 8)
    }

    private func peek() throws(Unusual) -> UInt8 {
        guard at < text.count else { throw Unusual() }
        return text[at]
    }

    private mutating func skipSpace() {
        while at < text.count, text[at] <= 0x20, Self.isSpace(text[at]) { at += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private mutating func value(depth: Int) throws(Unusual) {
        guard depth < Self.deepest else { throw Unusual() }
        switch try peek() {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "t"): try word("true", .yes)
        case UInt8(ascii: "f"): try word("false", .no)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func word(_ word: StaticString, _ kind: Node.Kind) throws(Unusual) {
        let length = word.utf8CodeUnitCount
        guard at + length <= text.count else { throw Unusual() }
        for index in 0..<length where text[at + index] != word.utf8Start[index] { throw Unusual() }
        leaf(kind, from: at, to: at + length)
        at += length
    }

    private mutating func leaf(_ kind: Node.Kind, from start: Int, to end: Int) {
        nodes.append(Node(kind: kind, start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1)))
    }

    private mutating func string() throws(Unusual) {
        at += 1
        let start = at
        var kind = Node.Kind.text
        while true {
            at = JSONText.plainEnd(of: text, from: at)
            let byte = try peek()
            if byte == JSONText.quote { break }
            guard byte == JSONText.backslash else { throw Unusual() }
            kind = .escapedText
            try escape()
        }
        leaf(kind, from: start, to: at)
        at += 1
    }

    /// Also of a text that nobody asks for: with a wrong one in it, it would be no JSON at all.
    private mutating func escape() throws(Unusual) {
        at += 1
        let letter = try peek()
        at += 1
        switch letter {
        case UInt8(ascii: "u"): break
        case JSONText.quote, JSONText.backslash, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        default: throw Unusual()
        }
        for _ in 0..<4 {
            guard Character(Unicode.Scalar(try peek())).isHexDigit else { throw Unusual() }
            at += 1
        }
    }

    private mutating func digits() throws(Unusual) {
        let start = at
        while at < text.count, (0x30...0x39).contains(text[at]) { at += 1 }
        guard at > start else { throw Unusual() }
    }

    private mutating func number() throws(Unusual) {
        let start = at
        if try peek() == UInt8(ascii: "-") { at += 1 }
        if try peek() == UInt8(ascii: "0") { at += 1 } else { try digits() }
        var kind = Node.Kind.integer
        if at < text.count, text[at] == UInt8(ascii: ".") {
            kind = .number
            at += 1
            try digits()
        }
        if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
            kind = .number
            at += 1
            let sign = try peek()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at += 1 }
            try digits()
        }
        leaf(kind, from: start, to: at)
    }

    private mutating func open(_ kind: Node.Kind) -> Int {
        leaf(kind, from: at, to: at)
        at += 1
        skipSpace()
        return nodes.count - 1
    }

    private mutating func close(_ node: Int, _ count: Int32) {
        at += 1
        nodes[node].end = Int32(at)
        nodes[node].next = Int32(nodes.count)
        nodes[node].count = count
    }

    /// Whether another element follows; otherwise the container ends here.
    private mutating func goesOn(until end: UInt8) throws(Unusual) -> Bool {
        skipSpace()
        let byte = try peek()
        if byte == end { return false }
        guard byte == UInt8(ascii: ",") else { throw Unusual() }
        at += 1
        skipSpace()
        return true
    }

    private mutating func array(depth: Int) throws(Unusual) {
        let node = open(.array)
        var count: Int32 = 0
        if try peek() != UInt8(ascii: "]") {
            repeat {
                try value(depth: depth + 1)
                count += 1
            } while try goesOn(until: UInt8(ascii: "]"))
        }
        close(node, count)
    }

    private mutating func object(depth: Int) throws(Unusual) {
        let node = open(.object)
        var count: Int32 = 0
        if try peek() != UInt8(ascii: "}") {
            repeat {
                guard try peek() == JSONText.quote, count < Self.mostFields else { throw Unusual() }
                let key = nodes.count
                try string()
                guard nodes[key].kind == .text, !isKey(key, amongFirst: count, of: node) else { throw Unusual() }
                count += 1
                skipSpace()
                guard try peek() == UInt8(ascii: ":") else { throw Unusual() }
                at += 1
                skipSpace()
                try value(depth: depth + 1)
            } while try goesOn(until: UInt8(ascii: "}"))
        }
        close(node, count)
    }

    private func isKey(_ key: Int, amongFirst count: Int32, of object: Int) -> Bool {
        var other = object + 1
        for _ in 0..<count {
            if hasSameText(other, key) { return true }
            other = Int(nodes[other + 1].next)
        }
        return false
    }

    private func hasSameText(_ left: Int, _ right: Int) -> Bool {
        let (start, other) = (Int(nodes[left].start), Int(nodes[right].start))
        let length = Int(nodes[right].end) - other
        guard Int(nodes[left].end) - start == length else { return false }
        for offset in 0..<length where text[start + offset] != text[other + offset] { return false }
        return true
    }
}
