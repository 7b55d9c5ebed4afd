import Foundation

extension StateShape {
    /// Finds out what `type` takes by watching it decode `example`: which fields it asks for, as what, and which of
    /// them it would do without.
    init<State: Codable>(of type: State.Type, like example: State) {
        let json = (try? JSONEncoder().encode(example)).flatMap { AnyJSON(parsing: $0) }
        self = ShapeProbe.probe(type, json, depth: 0).shape
    }
}

private enum ShapeProbe {
    /// What nests deeper is taken for a type that contains itself.
    static let deepest = 8

    /// The shape of a type, and a value of it if one could be made.
    static func probe<T: Decodable>(_ type: T.Type, _ value: AnyJSON?, depth: Int) -> (shape: StateShape, value: T?) {
        if let shape = leaf(type) { return (shape, sample(type, value)) }
        guard depth < deepest else { return (.other(type: "\(type)"), nil) }
        let notes = ProbeNotes()
        while true {
            let known = notes.refused.count
            if let made = try? type.init(from: ProbeDecoder(value: value, notes: notes, depth: depth)) {
                return (notes.shape(of: type), made)
            }
            // A field that can be left out and of which no value can be made is left out.
            guard notes.refused.count > known else { return (notes.shape(of: type), nil) }
        }
    }

    private static func leaf(_ type: any Any.Type) -> StateShape? {
        if type == Bool.self { return .boolean }
        if type is any FixedWidthInteger.Type { return .integer(type: "\(type)") }
        if type is any BinaryFloatingPoint.Type || type == Decimal.self { return .number }
        if type == String.self { return .string }
        if type == Date.self { return .date }
        if type == URL.self { return .url }
        if type == UUID.self { return .uuid }
        if type == Data.self { return .data }
        if let open = type as? any OpenCase.Type { return .choice(open.names, isOpen: true) }
        guard let names = (type as? any CaseIterable.Type)?.rawTexts else { return nil }
        return .choice(names, isOpen: false)
    }

    /// The value in the example, or else anything that the type takes.
    private static func sample<T: Decodable>(_ type: T.Type, _ value: AnyJSON?) -> T? {
        let firstCase = (type as? any CaseIterable.Type)?.rawTexts?.first.map(AnyJSON.string)
        let candidates = [
            value, firstCase, .integer(0), .string(""), .bool(false), .string("a:b"), .string(UUID().uuidString),
        ]
        return candidates.lazy.compactMap { $0 }
            .compactMap { try? JSONDecoder().decode(type, from: JSONEncoder().encode($0)) }.first
    }
}

extension OpenCase {
    /// All that a sender may say: the fallback only stands for what is not known.
    fileprivate static var names: [String] { allCases.filter { $0 != fallback }.map(\.rawValue) }
}

extension CaseIterable {
    fileprivate static var rawTexts: [String]? {
        let texts = allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        return texts.isEmpty ? nil : texts
    }
}

/// The type decodes in a way that cannot be watched, or there is no value to give it.
private struct Unwatchable: Error {}

/// What a type has asked for so far.
private final class ProbeNotes {
    private var fields: [StateShape.Field] = []
    private var optional: Set<String> = []
    /// The shape of the whole, if it is no object with fields.
    var whole: StateShape?
    var isMap = false
    /// Fields of which no value could be made.
    private(set) var refused: Set<String> = []

    func shape(of type: any Any.Type) -> StateShape {
        if let whole { return whole }
        if isMap { return fields.first.map { .map($0.shape) } ?? .other(type: "\(type)") }
        guard !fields.isEmpty else { return .other(type: "\(type)") }
        return .object(
            fields.map {
                StateShape.Field(name: $0.name, shape: $0.shape, isOptional: optional.contains($0.name))
            })
    }

    func noteOptional(_ name: String) { optional.insert(name) }

    func note(_ name: String, _ shape: StateShape, isMade: Bool) {
        let field = StateShape.Field(name: name, shape: shape, isOptional: false)
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index] = field
        } else {
            fields.append(field)
        }
        if !isMade, optional.contains(name) { refused.insert(name) }
    }
}

private struct ProbeDecoder: Decoder {
    let value: AnyJSON?
    let notes: ProbeNotes
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeFields(value: value, notes: notes, depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ProbeElements(value: value, notes: notes, depth: depth)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension ProbeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (shape, made) = ShapeProbe.probe(type, value, depth: depth + 1)
        notes.whole = shape
        guard let made else { throw Unwatchable() }
        return made
    }
}

/// Asking whether a field is there is what a type does for its optional fields only.
private struct ProbeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let value: AnyJSON?
    let notes: ProbeNotes
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    /// Only a dictionary asks for all keys; it is given one.
    var allKeys: [Key] {
        notes.isMap = true
        guard case .object(let fields)? = value, let first = fields.keys.min() else {
            return [Key(stringValue: "key")].compactMap { $0 }
        }
        return [Key(stringValue: first)].compactMap { $0 }
    }

    func contains(_ key: Key) -> Bool {
        notes.noteOptional(key.stringValue)
        return !notes.refused.contains(key.stringValue)
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (shape, made) = ShapeProbe.probe(type, value?[key.stringValue], depth: depth + 1)
        notes.note(key.stringValue, shape, isMade: made != nil)
        guard let made else { throw Unwatchable() }
        return made
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw unwatchable
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw unwatchable }

    func superDecoder() throws -> any Decoder { throw unwatchable }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw unwatchable }

    private var unwatchable: Unwatchable {
        notes.whole = .other(type: "value")
        return Unwatchable()
    }
}

/// An array with one element.
private struct ProbeElements: UnkeyedDecodingContainer {
    let value: AnyJSON?
    let notes: ProbeNotes
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var currentIndex = 0
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }

    init(value: AnyJSON?, notes: ProbeNotes, depth: Int) {
        self.value = value
        self.notes = notes
        self.depth = depth
    }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (shape, made) = ShapeProbe.probe(type, value?.elements?.first, depth: depth + 1)
        notes.whole = .array(shape)
        guard let made else { throw Unwatchable() }
        currentIndex += 1
        return made
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw Unwatchable() }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unwatchable() }

    mutating func superDecoder() throws -> any Decoder { throw Unwatchable() }
}
