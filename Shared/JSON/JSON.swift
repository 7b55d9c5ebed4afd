import Foundation

/// `Codable` values as JSON and back, as `JSONEncoder` and `JSONDecoder` do it, several times faster.
///
/// Both take the short way for what nearly every value and text is made of. Where they meet anything else (an error, a
/// repeated key, a number that is no plain integer where one is wanted) they leave it to Foundation from the beginning: so
/// that decides what is accepted, what comes of it, and with which error it is refused.
package enum JSON {
    /// The JSON of a value, without escaped slashes.
    ///
    /// - Parameter sortsKeys: Puts the fields of each object in order: equal values have equal bytes. To be used for
    ///   all types that are not ours, which may write a field twice.
    /// - Throws: What `JSONEncoder` throws.
    package static func encode(_ value: some Encodable, sortsKeys: Bool = true) throws -> [UInt8] {
        if let bytes = JSONWriter.bytes(of: value, sortsKeys: sortsKeys) { return bytes }
        return try foundation(value, sortsKeys: sortsKeys)
    }

    /// The same with nothing in between, for values that write themselves.
    package static func encode(_ value: some JSONWritable, sortsKeys: Bool = true) throws -> [UInt8] {
        if let bytes = JSONOutput.bytes(of: value, sortsKeys: sortsKeys) { return bytes }
        return try foundation(value, sortsKeys: sortsKeys)
    }

    private static func foundation(_ value: some Encodable, sortsKeys: Bool) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = sortsKeys ? [.withoutEscapingSlashes, .sortedKeys] : .withoutEscapingSlashes
        return Array(try encoder.encode(value))
    }

    /// Whether Foundation has a form of its own for values of the type.
    static func isSpecial<Value>(_ type: Value.Type) -> Bool {
        type == Date.self || type == Data.self || type == URL.self || type == Decimal.self
    }

    /// Reads a value of JSON text.
    ///
    /// - Throws: What `JSONDecoder` throws.
    package static func decode<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws -> Value {
        if let value = JSONTape.value(type, of: json) { return value }
        return try JSONDecoder().decode(type, from: Data(json))
    }

    /// The same with nothing in between, for values that read themselves.
    package static func decode<Value: JSONReadable>(_ type: Value.Type, from json: [UInt8]) throws -> Value {
        if let value = JSONInput.value(of: json, Value.init(json:)) { return value }
        return try JSONDecoder().decode(type, from: Data(json))
    }
}

/// How values of a type are written and read: chosen once, where the type is known.
package struct JSONCoding<Value>: Sendable {
    package let encode: @Sendable (Value) throws -> [UInt8]
    package let decode: @Sendable ([UInt8]) throws -> Value
}

extension JSONCoding where Value: Codable & Sendable {
    package static var codable: JSONCoding {
        JSONCoding(encode: { try JSON.encode($0) }, decode: { try JSON.decode(Value.self, from: $0) })
    }
}

extension JSONCoding where Value: JSONCodable & Sendable {
    /// The same with nothing in between, for values that do it themselves.
    package static var direct: JSONCoding {
        JSONCoding(encode: { try JSON.encode($0) }, decode: { try JSON.decode(Value.self, from: $0) })
    }
}
