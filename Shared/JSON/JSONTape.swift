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

    func bool(_ node: Int) throws -> Bool { try read(node) { json throws(JSONUnusual) in try json.bool() } }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ node: Int) throws -> Value {
        try read(node) { json throws(JSONUnusual) in try json.integer() }
    }

    func double(_ node: Int) throws -> Double { try read(node) { json throws(JSONUnusual) in try json.double() } }

    func string(_ node: Int) throws -> String { try read(node) { json throws(JSONUnusual) in try json.string() } }

    private func read<Value>(_ node: Int, _ read: (JSONInput) throws(JSONUnusual) -> Value) throws -> Value {
        let value = bytes.withUnsafeBufferPointer { text -> Value? in
            nodes.withUnsafeBufferPointer { nodes in
                do throws(JSONUnusual) {
                    return try read(JSONInput(text: text, nodes: nodes, at: node))
                } catch { return Value?.none }
            }
        }
        guard let value else { throw refusal() }
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
                if Int(nodes[node].end) - start == key.count, key.indices.allSatisfy({ bytes[start + $0] == key[$0] }) {
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
            keys.append(String(decoding: bytes[Int(nodes[node].start)..<Int(nodes[node].end)], as: UTF8.self))
            node = Int(nodes[node + 1].next)
        }
        return keys
    }
}
