/// What a phone's `JSONDecoder` takes for one value of a state.
package indirect enum StateShape: Sendable, Equatable {
    case boolean
    /// A whole number that fits into the Swift type of this name.
    case integer(type: String)
    case number
    case string
    /// A number: seconds since 2001-01-01, which is what `JSONDecoder` reads as a `Date`.
    case date
    case url
    case uuid
    /// Base64 text.
    case data
    /// One of these texts; an open one reads every other text as its fallback, which is not listed.
    case choice([String], isOpen: Bool)
    case array(StateShape)
    /// An object with keys of the sender's own.
    case map(StateShape)
    case object([Field])
    /// A Swift type that decodes in a way of its own.
    case other(type: String)

    package struct Field: Sendable, Equatable {
        package let name: String
        package let shape: StateShape
        package let isOptional: Bool
    }
}

extension StateShape {
    /// The JSON schema of an object's shape (draft 2020-12), fields in the order of their declaration.
    func schema(titled title: String, notes: [String: String], example: [UInt8]) -> [UInt8] {
        var writer = SchemaWriter(notes: notes)
        writer.write(#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"#)
        writer.write(string: title)
        writer.write(",")
        writer.write(body: self, at: "")
        writer.write(#","examples":["#)
        writer.bytes += example
        writer.write("]}")
        return writer.bytes
    }
}

private struct SchemaWriter {
    let notes: [String: String]
    var bytes: [UInt8] = []

    init(notes: [String: String]) { self.notes = notes }

    mutating func write(_ text: String) { bytes += text.utf8 }

    mutating func write(string: String) {
        var json = JSONOutput()
        json.write(string)
        bytes += json.bytes
    }

    /// What stands between the braces of a value's schema.
    mutating func write(body shape: StateShape, at path: String) {
        switch shape {
        case .boolean: write(#""type":"boolean""#)
        case .integer(let type): write(#""type":"integer"\#(Self.bounds[type] ?? "")"#)
        case .number: write(#""type":"number""#)
        case .string: write(#""type":"string""#)
        case .date: write(#""type":"number","$comment":"seconds since 2001-01-01 UTC, not UNIX time""#)
        case .url: write(#""type":"string","format":"uri","minLength":1"#)
        case .uuid: write(#""type":"string","format":"uuid""#)
        case .data: write(#""type":"string","contentEncoding":"base64""#)
        case .choice(let names, _):
            write(#""type":"string","enum":["#)
            write(list: names)
            write("]")
        case .array(let element): write(nested: element, as: #""type":"array","items":"#, at: path)
        case .map(let element): write(nested: element, as: #""type":"object","additionalProperties":"#, at: path)
        case .object(let fields): write(object: fields, at: path)
        case .other(let type):
            write(#""$comment":"#)
            write(string: "a \(type), which decodes in a way of its own")
        }
    }

    private mutating func write(nested shape: StateShape, as opening: String, at path: String) {
        write(opening + "{")
        write(body: shape, at: path)
        write("}")
    }

    private mutating func write(object fields: [StateShape.Field], at path: String) {
        write(#""type":"object","properties":{"#)
        for (index, field) in fields.enumerated() {
            if index > 0 { write(",") }
            let fieldPath = path.isEmpty ? field.name : "\(path).\(field.name)"
            write(string: field.name)
            write(":{")
            write(body: field.shape, at: fieldPath)
            if let note = notes[fieldPath] {
                write(#","description":"#)
                write(string: note)
            }
            write("}")
        }
        write(#"},"required":["#)
        write(list: fields.filter { !$0.isOptional }.map(\.name))
        write(#"],"additionalProperties":false"#)
    }

    private mutating func write(list names: [String]) {
        for (index, name) in names.enumerated() {
            if index > 0 { write(",") }
            write(string: name)
        }
    }

    /// Without those of 64 bits: a reader of schemas that counts in doubles would get them wrong.
    private static let bounds = [
        "Int8": #","minimum":-128,"maximum":127"#, "UInt8": #","minimum":0,"maximum":255"#,
        "Int16": #","minimum":-32768,"maximum":32767"#, "UInt16": #","minimum":0,"maximum":65535"#,
        "Int32": #","minimum":-2147483648,"maximum":2147483647"#, "UInt32": #","minimum":0,"maximum":4294967295"#,
        "UInt64": #","minimum":0"#, "UInt": #","minimum":0"#,
    ]
}

extension StateShape {
    /// The keys that stand in an object more than once: which of them a reader takes is its own choice.
    package static func repeatedKeys(of object: [UInt8]) -> [String] {
        let names = (JSONText.fields(of: object) ?? []).map(\.name)
        return Set(names.filter { name in names.count { $0 == name } > 1 }).sorted()
    }
}
