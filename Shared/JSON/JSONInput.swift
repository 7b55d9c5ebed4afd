/// A value in JSON text whose values have been noted.
///
/// It is good for as long as the text and the notes are held, which is while `value(of:_:)` runs.
package struct JSONInput {
    typealias Node = JSONScanner.Node

    private let text: UnsafeBufferPointer<UInt8>
    private let nodes: UnsafeBufferPointer<Node>
    private let index: Int

    init(text: UnsafeBufferPointer<UInt8>, nodes: UnsafeBufferPointer<Node>, at index: Int) {
        self.text = text
        self.nodes = nodes
        self.index = index
    }

    private var node: Node { nodes[index] }

    /// What stands in the text; a text's without its quotes, and with its escapes.
    private var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[Int(node.start)..<Int(node.end)])
    }

    var kind: Node.Kind { node.kind }

    package var isNull: Bool { kind == .null }
    package var isText: Bool { kind == .text || kind == .escapedText }
    package var isNumber: Bool { kind == .integer || kind == .number }
    package var isArray: Bool { kind == .array }

    // MARK: Values

    func bool() throws(JSONUnusual) -> Bool {
        switch kind {
        case .yes: return true
        case .no: return false
        default: throw JSONUnusual()
        }
    }

    func integer<Value: FixedWidthInteger>() throws(JSONUnusual) -> Value {
        guard kind == .integer else { throw JSONUnusual() }
        let bytes = bytes
        let isNegative = bytes[0] == UInt8(ascii: "-")
        var value: Value = 0
        for index in (isNegative ? 1 : 0)..<bytes.count {
            let digit = Value(truncatingIfNeeded: bytes[index] - UInt8(ascii: "0"))
            let (ten, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative ? ten.subtractingReportingOverflow(digit) : ten.addingReportingOverflow(digit)
            guard !overflows, !overflowsToo else { throw JSONUnusual() }
            value = sum
        }
        return value
    }

    func double() throws(JSONUnusual) -> Double {
        guard isNumber, let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite
        else { throw JSONUnusual() }
        return value
    }

    func string() throws(JSONUnusual) -> String {
        switch kind {
        case .text: return String(decoding: bytes, as: UTF8.self)
        case .escapedText: return try JSONText.unescaped(bytes)
        default: throw JSONUnusual()
        }
    }

    /// The bytes of a text in which nothing is escaped.
    func plainText() throws(JSONUnusual) -> UnsafeBufferPointer<UInt8> {
        guard kind == .text else { throw JSONUnusual() }
        return bytes
    }

    // MARK: Containers

    func count(of kind: Node.Kind) throws(JSONUnusual) -> Int {
        guard self.kind == kind else { throw JSONUnusual() }
        return Int(node.count)
    }

    /// The elements of an array, or the keys and values of an object, one after the other.
    package struct Elements {
        fileprivate var rest: JSONInput
        fileprivate let end: Int

        package mutating func next() -> JSONInput? {
            guard rest.index < end else { return nil }
            defer { rest = rest.following }
            return rest
        }
    }

    package func elements() throws(JSONUnusual) -> Elements {
        guard kind == .array || kind == .object else { throw JSONUnusual() }
        return Elements(rest: first, end: Int(node.next))
    }

    package func object() throws(JSONUnusual) -> JSONFields {
        guard kind == .object else { throw JSONUnusual() }
        return JSONFields(first: first, end: Int(node.next))
    }

    private var first: JSONInput { JSONInput(text: text, nodes: nodes, at: index + 1) }
    fileprivate var following: JSONInput { JSONInput(text: text, nodes: nodes, at: Int(node.next)) }

    /// The value of `key` among the keys from here to `end`, not included.
    fileprivate func value(of key: StaticString, until end: Int) -> JSONInput? {
        let length = key.utf8CodeUnitCount
        var at = index
        while at < end {
            let node = nodes[at]
            if Int(node.end - node.start) == length, isEqual(key, at: Int(node.start)) {
                return JSONInput(text: text, nodes: nodes, at: at + 1)
            }
            at = Int(nodes[at + 1].next)
        }
        return nil
    }

    private func isEqual(_ key: StaticString, at start: Int) -> Bool {
        for offset in 0..<key.utf8CodeUnitCount where text[start + offset] != key.utf8Start[offset] { return false }
        return true
    }

    fileprivate func isBefore(_ other: Int) -> Bool { index < other }
    fileprivate var position: Int { index }
}

/// The fields of an object, found fastest when asked for in the order in which they stand.
package struct JSONFields {
    private let first: JSONInput
    private let end: Int
    /// The key that is probably asked for next.
    private var next: JSONInput

    fileprivate init(first: JSONInput, end: Int) {
        self.first = first
        self.end = end
        next = first
    }

    /// A field that there has to be.
    package mutating func value<Value: JSONReadable>(_ key: StaticString) throws(JSONUnusual) -> Value {
        guard let found = find(key) else { throw JSONUnusual() }
        return try Value(json: found)
    }

    /// `nil` where there is nothing, or null.
    package mutating func optional<Value: JSONReadable>(_ key: StaticString) throws(JSONUnusual) -> Value? {
        guard let found = find(key), !found.isNull else { return nil }
        return try Value(json: found)
    }

    package mutating func find(_ key: StaticString) -> JSONInput? {
        guard let found = next.value(of: key, until: end) ?? first.value(of: key, until: next.position)
        else { return nil }
        next = found.following
        return found
    }
}
