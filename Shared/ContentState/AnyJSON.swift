import Foundation

/// JSON of any shape: for what others wrote, and for saying what was found where something else was expected.
package indirect enum AnyJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    /// "the number 3.5", "an array": for a sentence that begins with "found".
    package var inWords: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "the number \(value)"
        case .unsigned(let value): "the number \(value)"
        case .number(let value): "the number \(value)"
        case .string(let value): "the string \"\(value.count > 40 ? value.prefix(40) + "…" : value[...])\""
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension AnyJSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each attempt but the last may fail without harm: JSON does not say beforehand what comes.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension AnyJSON {
    /// Reads JSON text; `nil` if it is not that.
    package init?(parsing json: some Sequence<UInt8>) {
        guard let value = try? JSONDecoder().decode(AnyJSON.self, from: Data(json)) else { return nil }
        self = value
    }

    /// The JSON text, with keys in order; empty for a number that is none.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// The value of an object's field; `nil` if there is none, or if this is no object.
    package subscript(_ key: String) -> AnyJSON? {
        guard case .object(let fields) = self else { return nil }
        return fields[key]
    }

    package var text: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var elements: [AnyJSON]? {
        guard case .array(let value) = self else { return nil }
        return value
    }
}
