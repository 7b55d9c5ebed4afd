import Foundation
import Shared

/// Looks for the traps between a state's JSON and the Swift type that a phone reads it as.
///
/// It explains and does not judge: whether a phone takes a state is the decoder's word.
struct StateLint {
    private(set) var findings: [Finding] = []

    init(_ state: AnyJSON, shape: StateShape) {
        look(at: state, as: shape, path: "")
    }

    private mutating func add(_ name: Finding.Name, _ effect: Finding.Effect, _ path: String, _ words: String) {
        findings.append(Finding(name: name, effect: effect, path: path, words: words))
    }

    private mutating func look(at value: AnyJSON, as shape: StateShape, path: String) {
        switch shape {
        case .object(let fields): look(at: value, as: fields, path: path)
        case .array(let element):
            guard let elements = value.elements else { return wrong("an array", value, path) }
            for (index, one) in elements.enumerated() { look(at: one, as: element, path: "\(path)[\(index)]") }
        case .map(let element):
            guard case .object(let fields) = value else { return wrong("an object", value, path) }
            for (key, one) in fields.sorted(by: { $0.key < $1.key }) {
                look(at: one, as: element, path: Self.join(path, key))
            }
        case .boolean:
            if case .bool = value { return }
            wrong("true or false", value, path)
        case .string:
            if value.text == nil { wrong("text", value, path) }
        case .integer(let type): lookAtInteger(value, type, path)
        case .number:
            if value.double == nil { lookAtWrongNumber(value, "a number", path) }
        case .date: lookAtDate(value, path)
        case .choice(let names, let isOpen): lookAtChoice(value, names, isOpen, path)
        case .url, .uuid, .data: lookAtSpecialText(value, shape, path)
        case .other: return
        }
    }

    // MARK: - Objects

    private mutating func look(at value: AnyJSON, as fields: [StateShape.Field], path: String) {
        guard case .object(let found) = value else { return lookAtNoObject(value, path) }
        let names = Set(fields.map(\.name))
        var meant: Set<String> = []
        for field in fields {
            let fieldPath = Self.join(path, field.name)
            switch found[field.name] {
            case nil:
                let similar = found.keys.sorted().first {
                    !names.contains($0) && Self.letters($0) == Self.letters(field.name)
                }
                if let similar { meant.insert(similar) }
                missing(field, similar: similar, fieldPath)
            case .null? where field.isOptional:
                add(.nullOptional, .note, fieldPath, "leave a field out instead of sending null")
            case .null?: add(.null, .dropped, fieldPath, "the field is not optional, null is no value for it")
            case let value?: look(at: value, as: field.shape, path: fieldPath)
            }
        }
        for key in found.keys.sorted() where !names.contains(key) && !meant.contains(key) {
            let keyPath = Self.join(path, key)
            if path.isEmpty, ["userID", "sessionID"].contains(key) {
                add(.attributesKey, .note, keyPath, "belongs to the attributes, not to the state; iOS ignores it here")
            } else {
                add(.unknownKey, .note, keyPath, "the type has no such field; iOS ignores it")
            }
        }
    }

    private mutating func missing(_ field: StateShape.Field, similar: String?, _ path: String) {
        if let similar {
            let effect: Finding.Effect = field.isOptional ? .misread : .dropped
            add(.wrongKeyCase, effect, path, "the key has to be \"\(field.name)\" exactly, not \"\(similar)\"")
        } else if !field.isOptional {
            add(.missingKey, .dropped, path, "the field is not optional, and a default value in Swift does not help")
        }
    }

    private mutating func lookAtNoObject(_ value: AnyJSON, _ path: String) {
        if let text = value.text, case .object? = AnyJSON(parsing: text.utf8) {
            add(.stateAsText, .dropped, path, "the object is wrapped into a string: it was encoded twice")
        } else if path.isEmpty {
            add(.notAnObject, .dropped, path, "a state is an object, this is \(value.inWords)")
        } else {
            wrong("an object", value, path)
        }
    }

    // MARK: - Numbers

    private mutating func lookAtInteger(_ value: AnyJSON, _ type: String, _ path: String) {
        guard let number = value.double else { return lookAtWrongNumber(value, "a whole number", path) }
        guard number.rounded() == number else {
            return add(.fractionIntoInt, .dropped, path, "an \(type) takes no fraction, found \(number): round it")
        }
        guard Self.fits(value, type) else {
            return add(.numberOutOfRange, .dropped, path, "\(number) does not fit into an \(type)")
        }
        guard path.lowercased().contains("epoch"), number > 0 else { return }
        if number >= 100_000_000_000 {
            add(.epochInMilliseconds, .misread, path, "looks like milliseconds, not seconds since 1970")
        } else if (600_000_000..<978_307_200).contains(number) {
            add(.epochSince2001, .misread, path, "looks like seconds since 2001; here they count from 1970")
        }
    }

    private mutating func lookAtWrongNumber(_ value: AnyJSON, _ expected: String, _ path: String) {
        guard let text = value.text else { return wrong(expected, value, path) }
        if Timestamp(text) != nil || text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}.*/) != nil {
            add(.dateAsText, .dropped, path, "a date as text, where the type has a number")
        } else if Double(text) != nil {
            add(.numberAsText, .dropped, path, "a number in quotes is text: leave the quotes out")
        } else {
            wrong(expected, value, path)
        }
    }

    /// A date is read as seconds since 2001; in 2001 themselves such numbers were small, as UNIX seconds never are now.
    private mutating func lookAtDate(_ value: AnyJSON, _ path: String) {
        guard let number = value.double else { return lookAtWrongNumber(value, "seconds since 2001", path) }
        if number >= 1_400_000_000 {
            add(
                .dateAsUnixSeconds, .misread, path,
                "looks like UNIX seconds; iOS counts a Date from 2001, which shows it 31 years late: "
                    + "subtract 978307200, or make the field an Int")
        }
    }

    private static func fits(_ value: AnyJSON, _ type: String) -> Bool {
        let types: [any FixedWidthInteger.Type] = [
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
            UInt64.self,
        ]
        guard let type = types.first(where: { "\($0)" == type }) else { return true }
        return switch value {
        case .integer(let number): type.takes(number)
        case .unsigned(let number): type.takes(number)
        default: value.double.map { type.takes($0) } ?? false
        }
    }

    // MARK: - Text

    private mutating func lookAtChoice(_ value: AnyJSON, _ names: [String], _ isOpen: Bool, _ path: String) {
        guard let text = value.text else { return wrong("text", value, path) }
        guard !names.contains(text) else { return }
        let meant = names.first { Self.letters($0) == Self.letters(text) }
        add(
            .unknownEnumCase, isOpen ? .misread : .dropped, path,
            "\"\(text)\" is none of \(names.joined(separator: ", "))" + (meant.map { "; perhaps \"\($0)\"" } ?? "")
                + (isOpen ? "; iOS shows it as unknown" : ""))
    }

    private mutating func lookAtSpecialText(_ value: AnyJSON, _ shape: StateShape, _ path: String) {
        guard let text = value.text else { return wrong("text", value, path) }
        switch shape {
        case .url where URL(string: text) == nil: add(.badURL, .dropped, path, "is no URL; leave an empty one out")
        case .uuid where UUID(uuidString: text) == nil: add(.badUUID, .dropped, path, "is no UUID")
        case .data where Data(base64Encoded: text) == nil:
            add(.badBase64, .dropped, path, "is no base64 with padding and the letters + and /")
        default: return
        }
    }

    private mutating func wrong(_ expected: String, _ value: AnyJSON, _ path: String) {
        if value == .null {
            add(.null, .dropped, path, "expected \(expected), found null")
        } else {
            add(.wrongType, .dropped, path, "expected \(expected), found \(value.inWords)")
        }
    }

    private static func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }

    private static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

extension AnyJSON {
    /// A number of any sort.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension FixedWidthInteger {
    fileprivate static func takes(_ number: some BinaryInteger) -> Bool { Self(exactly: number) != nil }
    fileprivate static func takes(_ number: Double) -> Bool { Self(exactly: number) != nil }
}
