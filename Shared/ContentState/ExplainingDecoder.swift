import Foundation

/// Finds out why a `JSONDecoder` refuses something: at which path, what is expected there, and what is there instead.
///
/// `JSONDecoder` stays the judge. Of a fraction where an `Int` belongs it only says "not valid JSON", with no path; so
/// this walks the same type over the same JSON and asks the judge about each value on the way.
struct ExplainingDecoder: Decoder {
    let value: AnyJSON
    let codingPath: [any CodingKey]
    /// The type whose `init(from:)` was given this decoder.
    let type: any Decodable.Type
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The reason for a refusal, or `nil` if the walk finds none.
    static func explanation<T: Decodable>(of json: Data, as type: T.Type) -> ContentStateError? {
        guard let value = try? JSONDecoder().decode(AnyJSON.self, from: json) else { return nil }
        do {
            _ = try decode(type, value, [])
            return nil
        } catch let error as ContentStateError {
            return error
        } catch let error as DecodingError {
            return ContentStateError(error)
        } catch {
            return .undecodable(path: "", expected: "\(type)", found: "\(error)")
        }
    }

    fileprivate static func decode<T: Decodable>(
        _ type: T.Type, _ value: AnyJSON, _ path: [any CodingKey]
    ) throws -> T {
        if let decoded = try? JSONDecoder().decode(type, from: JSONEncoder().encode(value)) { return decoded }
        switch value {
        case .array, .object: return try type.init(from: ExplainingDecoder(value: value, codingPath: path, type: type))
        default: throw ContentStateError.mismatch(type, value.inWords, path)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let fields) = value else { throw mismatch }
        return KeyedDecodingContainer(Fields(fields: fields, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch }
        return Elements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    fileprivate var mismatch: ContentStateError { .mismatch(type, value.inWords, codingPath) }
}

extension ExplainingDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // A type that asks for itself, as `Int` does, would never come to an end.
        guard type != self.type else { throw mismatch }
        return try Self.decode(type, value, codingPath)
    }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: AnyJSON]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { fields[key.stringValue] == .null }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let path = codingPath + [key]
        guard let value = fields[key.stringValue] else { throw ContentStateError.mismatch(type, missing(key), path) }
        return try ExplainingDecoder.decode(type, value, path)
    }

    /// Says that a key is missing, and which key was perhaps meant for it.
    private func missing(_ key: Key) -> String {
        func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
        let similar = fields.keys.sorted().first { letters($0) == letters(key.stringValue) }
        return similar.map { "no such key, but \"\($0)\"" } ?? "no such key"
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ExplainingDecoder(value: fields["super"] ?? .null, codingPath: codingPath, type: AnyJSON.self)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ExplainingDecoder(
            value: fields[key.stringValue] ?? .null, codingPath: codingPath + [key], type: AnyJSON.self)
    }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [AnyJSON]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let path = codingPath + [Position(intValue: currentIndex)]
        guard !isAtEnd else { throw ContentStateError.mismatch(type, "the end of the array", path) }
        let decoded = try ExplainingDecoder.decode(type, elements[currentIndex], path)
        currentIndex += 1
        return decoded
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        defer { currentIndex += isAtEnd ? 0 : 1 }
        return ExplainingDecoder(
            value: isAtEnd ? .null : elements[currentIndex],
            codingPath: codingPath + [Position(intValue: currentIndex)], type: AnyJSON.self)
    }
}

private struct Position: CodingKey {
    let intValue: Int?
    var stringValue: String { "\(intValue ?? 0)" }

    init(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
}

extension ContentStateError {
    fileprivate static func mismatch(
        _ expected: any Any.Type, _ found: String, _ path: [any CodingKey]
    ) -> ContentStateError {
        path.isEmpty
            ? .notAnObject(found: found)
            : .undecodable(path: text(path), expected: String(describing: expected), found: found)
    }

    /// A path as one writes it in code: `items[2].price`.
    static func text(_ path: [any CodingKey]) -> String {
        path.reduce("") { text, key in
            if let index = key.intValue { return "\(text)[\(index)]" }
            return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
        }
    }

    /// What a `DecodingError` tells by itself.
    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            self = .undecodable(
                path: Self.text(context.codingPath), expected: String(describing: type),
                found: context.debugDescription)
        case .keyNotFound(let key, let context):
            self = .undecodable(
                path: Self.text(context.codingPath + [key]), expected: "a value", found: "no such key")
        case .dataCorrupted(let context):
            self = .undecodable(
                path: Self.text(context.codingPath), expected: "a value it can read", found: context.debugDescription)
        @unknown default:
            self = .undecodable(path: "", expected: "a value it can read", found: "\(error)")
        }
    }
}
