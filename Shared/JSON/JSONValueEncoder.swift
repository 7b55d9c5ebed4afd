/// What a value sees of the `JSONWriter` that writes it.
struct JSONValueEncoder: Encoder {
    let writer: JSONWriter

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.openObject()
        return KeyedEncodingContainer(JSONObjectEncoder<Key>(writer: writer, depth: writer.depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.openArray()
        return JSONArrayEncoder(writer: writer, depth: writer.depth)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        writer.openSingle()
        return JSONSingleEncoder(writer: writer, depth: writer.depth)
    }
}

private struct JSONObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: JSONWriter
    let depth: Int

    var codingPath: [any CodingKey] { [] }

    private func field(_ key: Key, _ write: () throws -> Void) rethrows {
        guard writer.depth == depth else { return writer.giveUp() }
        try writer.field(key.stringValue, write)
    }

    func encodeNil(forKey key: Key) { field(key) { writer.writeNull() } }
    func encode(_ value: Bool, forKey key: Key) { field(key) { writer.write(value) } }
    func encode(_ value: String, forKey key: Key) { field(key) { writer.write(value) } }
    func encode(_ value: Double, forKey key: Key) { field(key) { writer.write(value) } }
    func encode(_ value: Float, forKey key: Key) { field(key) { writer.write(value) } }
    func encode(_ value: Int, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: Int8, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: Int16, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: Int32, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: Int64, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: UInt, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: UInt8, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: UInt16, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: UInt32, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode(_ value: UInt64, forKey key: Key) { field(key) { writer.write(integer: value) } }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try field(key) { try writer.write(value) } }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        writer.nowhere().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        writer.nowhere().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { writer.nowhere() }

    func superEncoder(forKey key: Key) -> any Encoder { writer.nowhere() }
}

private struct JSONArrayEncoder: UnkeyedEncodingContainer {
    let writer: JSONWriter
    let depth: Int
    private(set) var count = 0

    init(writer: JSONWriter, depth: Int) {
        self.writer = writer
        self.depth = depth
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func element(_ write: () throws -> Void) rethrows {
        guard writer.depth == depth else { return writer.giveUp() }
        writer.beginElement()
        try write()
        count += 1
    }

    mutating func encodeNil() { element { [writer] in writer.writeNull() } }
    mutating func encode(_ value: Bool) { element { [writer] in writer.write(value) } }
    mutating func encode(_ value: String) { element { [writer] in writer.write(value) } }
    mutating func encode(_ value: Double) { element { [writer] in writer.write(value) } }
    mutating func encode(_ value: Float) { element { [writer] in writer.write(value) } }
    mutating func encode(_ value: Int) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: Int8) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: Int16) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: Int32) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: Int64) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: UInt) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: UInt8) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: UInt16) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: UInt32) { element { [writer] in writer.write(integer: value) } }
    mutating func encode(_ value: UInt64) { element { [writer] in writer.write(integer: value) } }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try element { [writer] in try writer.write(value) }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        writer.nowhere().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.nowhere().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { writer.nowhere() }
}

private struct JSONSingleEncoder: SingleValueEncodingContainer {
    let writer: JSONWriter
    let depth: Int

    var codingPath: [any CodingKey] { [] }

    private func once(_ write: () throws -> Void) rethrows {
        guard writer.depth == depth, writer.isFirst() else { return writer.giveUp() }
        try write()
    }

    func encodeNil() { once { writer.writeNull() } }
    func encode(_ value: Bool) { once { writer.write(value) } }
    func encode(_ value: String) { once { writer.write(value) } }
    func encode(_ value: Double) { once { writer.write(value) } }
    func encode(_ value: Float) { once { writer.write(value) } }
    func encode(_ value: Int) { once { writer.write(integer: value) } }
    func encode(_ value: Int8) { once { writer.write(integer: value) } }
    func encode(_ value: Int16) { once { writer.write(integer: value) } }
    func encode(_ value: Int32) { once { writer.write(integer: value) } }
    func encode(_ value: Int64) { once { writer.write(integer: value) } }
    func encode(_ value: UInt) { once { writer.write(integer: value) } }
    func encode(_ value: UInt8) { once { writer.write(integer: value) } }
    func encode(_ value: UInt16) { once { writer.write(integer: value) } }
    func encode(_ value: UInt32) { once { writer.write(integer: value) } }
    func encode(_ value: UInt64) { once { writer.write(integer: value) } }
    func encode<Value: Encodable>(_ value: Value) throws { try once { try writer.write(value) } }
}
