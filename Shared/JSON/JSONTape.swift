/// JSON text with its values noted, for values to read themselves from.
///
/// As soon as what is asked for and what is there differ in any way, the whole is Foundation's to read.
final class JSONTape {
    typealias Node = JSONScanner.Node

    let bytes: [UInt8]
    let nodes: [Node]
    /// The key that is probably asked for next, by object: fields are mostly asked for in the order that they stand in.
    @exclusivity(unchecked) private var hints: [Int32]
    @exclusivity(unchecked) private(set) var isUncertain = false

    private init?(_ bytes: [UInt8]) {
        guard let nodes = JSONScanner.nodes(of: bytes) else { return nil }
        self.bytes = bytes
        self.nodes = nodes
        hints = [Int32](repeating: 0, count: nodes.count)
    }

    /// Reads a value; `nil` if Foundation has to.
    static func value<Value: Decodable>(_ type: Value.Type, of bytes: [UInt8]) -> Value? {
        guard let tape = JSONTape(bytes) else { return nil }
        do {
            let value = try tape.value(type, at: 0)
            return tape.isUncertain ? nil : value
        } catch { return nil }
    }

    /// What a reader throws; nobody sees it but a value that goes on without what it asked for.
    func refusal(_ path: [any CodingKey] = []) -> DecodingError {
        isUncertain = true
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: "not as expected"))
    }

    // MARK: Values

    func value<Value: Decodable>(_ type: Value.Type, at node: Int) throws -> Value {
        if JSON.isSpecial(Value.self) { throw refusal() }
        return try Value(from: JSONValueDecoder(tape: self, node: node))
    }

    func isNull(_ node: Int) -> Bool { nodes[node].kind == .null }

    func bool(_ node: Int) throws -> Bool {
        switch nodes[node].kind {
        case .yes: return true
        case .no: return false
        default: throw refusal()
        }
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ node: Int) throws -> Value {
        let node = nodes[node]
        guard node.kind == .integer else { throw refusal() }
        var value: Value = 0
        let isNegative = bytes[Int(node.start)] == UInt8(ascii: "-")
        for index in (Int(node.start) + (isNegative ? 1 : 0))..<Int(node.end) {
            let digit = Value(truncatingIfNeeded: bytes[index] - 0x30)
            let (ten, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative ? ten.subtractingReportingOverflow(digit) : ten.addingReportingOverflow(digit)
            guard !overflows, !overflowsToo else { throw refusal() }
            value = sum
        }
        return value
    }

    func double(_ node: Int) throws -> Double {
        let node = nodes[node]
        guard node.kind == .integer || node.kind == .number, let value = Double(text(node)), value.isFinite
        else { throw refusal() }
        return value
    }

    func string(_ node: Int) throws -> String {
        let node = nodes[node]
        switch node.kind {
        case .text: return text(node)
        case .escapedText: return try unescaped(node)
        default: throw refusal()
        }
    }

    private func text(_ node: Node) -> String {
        bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[Int(node.start)..<Int(node.end)]), as: UTF8.self)
        }
    }

    private func unescaped(_ node: Node) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(Int(node.end - node.start))
        var index = Int(node.start)
        while index < Int(node.end) {
            let rest = bytes[index..<Int(node.end)]
            let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
            text += plain
            guard plain.endIndex < rest.endIndex else { break }
            index = plain.endIndex + 2
            switch bytes[index - 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[index - 1])
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): text += String(try scalar(&index, until: Int(node.end))).utf8
            default: throw refusal()
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The character of one `\uXXXX`, or of the two that make a pair; half of a pair is left to Foundation.
    private func scalar(_ index: inout Int, until end: Int) throws -> Unicode.Scalar {
        let first = try codeUnit(&index, until: end)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), index + 2 <= end, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw refusal() }
        index += 2
        let second = try codeUnit(&index, until: end)
        guard UTF16.isTrailSurrogate(second) else { throw refusal() }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private func codeUnit(_ index: inout Int, until end: Int) throws -> UInt16 {
        guard index + 4 <= end else { throw refusal() }
        var value: UInt16 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw refusal() }
            value = value << 4 | UInt16(digit)
        }
        index += 4
        return value
    }

    // MARK: Fields

    /// The node of a field's value; `nil` if there is no such field.
    func field(_ key: String, of object: Int) -> Int? {
        let first = object + 1
        let end = Int(nodes[object].next)
        let hint = max(first, Int(hints[object]))
        guard let found = search(key, from: hint, to: end) ?? search(key, from: first, to: hint) else { return nil }
        hints[object] = nodes[found + 1].next
        return found + 1
    }

    private func search(_ key: String, from first: Int, to end: Int) -> Int? {
        var key = key
        return key.withUTF8 { key in
            var node = first
            while node < end {
                let start = Int(nodes[node].start)
                if Int(nodes[node].end) - start == key.count, bytes[start..<start + key.count].elementsEqual(key) {
                    return node
                }
                node = Int(nodes[node + 1].next)
            }
            return nil
        }
    }

    /// The names of an object's fields.
    func keys(of object: Int) -> [String] {
        var keys: [String] = []
        var node = object + 1
        while node < Int(nodes[object].next) {
            keys.append(text(nodes[node]))
            node = Int(nodes[node + 1].next)
        }
        return keys
    }
}
