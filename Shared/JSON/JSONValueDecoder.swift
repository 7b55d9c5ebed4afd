/// What a value sees of the `JSONTape` that it reads itself from.
struct JSONValueDecoder: Decoder {
    let tape: JSONTape
    let node: Int

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard tape.nodes[node].kind == .object else { throw tape.refusal() }
        return KeyedDecodingContainer(JSONObjectDecoder<Key>(tape: tape, object: node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard tape.nodes[node].kind == .array else { throw tape.refusal() }
        return JSONArrayDecoder(tape: tape, array: node)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { JSONSingleDecoder(tape: tape, node: node) }
}

private struct JSONObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let tape: JSONTape
    let object: Int

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { tape.keys(of: object).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { tape.field(key.stringValue, of: object) != nil }

    private func node(_ key: Key) throws -> Int {
        guard let node = tape.field(key.stringValue, of: object) else { throw tape.refusal() }
        return node
    }

    /// `nil` where there is nothing, or null.
    private func present(_ key: Key) -> Int? {
        guard let node = tape.field(key.stringValue, of: object), !tape.isNull(node) else { return nil }
        return node
    }

    func decodeNil(forKey key: Key) throws -> Bool { tape.isNull(try node(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try tape.bool(try node(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try tape.string(try node(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try tape.double(try node(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { throw tape.refusal() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try tape.integer(type, try node(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try tape.integer(type, try node(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try tape.integer(type, try node(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try tape.integer(type, try node(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try tape.integer(type, try node(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try tape.integer(type, try node(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try tape.integer(type, try node(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try tape.integer(type, try node(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try tape.integer(type, try node(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try tape.integer(type, try node(key)) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try tape.value(type, at: try node(key))
    }

    // Without these, each field that may be absent would be looked for three times.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key).map(tape.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key).map(tape.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key).map(tape.double) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try tape.integer(type, $0) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try tape.integer(type, $0) }
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key).map { try tape.value(type, at: $0) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try JSONValueDecoder(tape: tape, node: try node(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try JSONValueDecoder(tape: tape, node: try node(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { throw tape.refusal() }

    func superDecoder(forKey key: Key) throws -> any Decoder { JSONValueDecoder(tape: tape, node: try node(key)) }
}

private struct JSONArrayDecoder: UnkeyedDecodingContainer {
    let tape: JSONTape
    private let end: Int
    private let size: Int
    private var node: Int
    private(set) var currentIndex = 0

    init(tape: JSONTape, array: Int) {
        self.tape = tape
        end = Int(tape.nodes[array].next)
        size = Int(tape.nodes[array].count)
        node = array + 1
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { size }
    var isAtEnd: Bool { node >= end }

    /// The next element; it counts as read even if what reads it fails, after which the result does not matter.
    private mutating func next() throws -> Int {
        guard !isAtEnd else { throw tape.refusal() }
        defer {
            node = Int(tape.nodes[node].next)
            currentIndex += 1
        }
        return node
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { throw tape.refusal() }
        guard tape.isNull(node) else { return false }
        _ = try next()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try tape.bool(try next()) }
    mutating func decode(_ type: String.Type) throws -> String { try tape.string(try next()) }
    mutating func decode(_ type: Double.Type) throws -> Double { try tape.double(try next()) }
    mutating func decode(_ type: Float.Type) throws -> Float { throw tape.refusal() }
    mutating func decode(_ type: Int.Type) throws -> Int { try tape.integer(type, try next()) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try tape.integer(type, try next()) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try tape.integer(type, try next()) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try tape.integer(type, try next()) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try tape.integer(type, try next()) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try tape.integer(type, try next()) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try tape.integer(type, try next()) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try tape.integer(type, try next()) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try tape.integer(type, try next()) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try tape.integer(type, try next()) }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try tape.value(type, at: try next())
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        try JSONValueDecoder(tape: tape, node: try next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try JSONValueDecoder(tape: tape, node: try next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { JSONValueDecoder(tape: tape, node: try next()) }
}

private struct JSONSingleDecoder: SingleValueDecodingContainer {
    let tape: JSONTape
    let node: Int

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { tape.isNull(node) }
    func decode(_ type: Bool.Type) throws -> Bool { try tape.bool(node) }
    func decode(_ type: String.Type) throws -> String { try tape.string(node) }
    func decode(_ type: Double.Type) throws -> Double { try tape.double(node) }
    func decode(_ type: Float.Type) throws -> Float { throw tape.refusal() }
    func decode(_ type: Int.Type) throws -> Int { try tape.integer(type, node) }
    func decode(_ type: Int8.Type) throws -> Int8 { try tape.integer(type, node) }
    func decode(_ type: Int16.Type) throws -> Int16 { try tape.integer(type, node) }
    func decode(_ type: Int32.Type) throws -> Int32 { try tape.integer(type, node) }
    func decode(_ type: Int64.Type) throws -> Int64 { try tape.integer(type, node) }
    func decode(_ type: UInt.Type) throws -> UInt { try tape.integer(type, node) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try tape.integer(type, node) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try tape.integer(type, node) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try tape.integer(type, node) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try tape.integer(type, node) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try tape.value(type, at: node) }
}
