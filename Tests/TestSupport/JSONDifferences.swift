import Foundation
package import Shared

/// Where a type that writes and reads its JSON by itself differs from its own `Codable`, in Foundation's hands.
package enum JSONDifferences {
    /// Texts that are hard to write or to read.
    package static let texts = [
        #"{"a":[1,"b\n",{"c":"\"\\"}]}"#, "", "plain", "a/b", #"say "hi" \ and go"#, "é e\u{301} · 🍕👨‍👩‍👧",
        "\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F} \u{7F}", "\u{2028}\u{10FFFF}",
        String(repeating: "long, and plain; ", count: 100),
    ]

    /// What is found for the samples in both directions, and for much that is made of the first.
    package static func of<Value: JSONCodable & Equatable>(_ samples: [Value]) throws -> [String] {
        try of(samples, areSame: ==)
    }

    package static func of<Value: JSONCodable>(
        _ samples: [Value], areSame: (Value, Value) -> Bool
    ) throws -> [String] {
        try samples.flatMap { try ofWriting($0) + ofReading(Value.self, foundation($0), areSame: areSame) }
            + samples.prefix(1).flatMap { try ofReadingChanged(Value.self, foundation($0), areSame: areSame) }
    }

    package static func ofWriting<Value: JSONWritable>(_ sample: Value) throws -> [String] {
        let sorted = JSONOutput.bytes(of: sample, sortsKeys: true)
        let declared = JSONOutput.bytes(of: sample, sortsKeys: false)
        let long = try foundation(sample)
        var found: [String] = []
        if sorted != long { found.append("\(text(sorted)) is written, \(text(long)) by Foundation") }
        let general = try generally(sample)
        if declared != general { found.append("\(text(declared)) is written, \(text(general)) over Codable") }
        return found
    }

    /// What is found when the text is read, as it is and with its fields in another order.
    package static func ofReading<Value: JSONReadable>(
        _ type: Value.Type, _ json: [UInt8], areSame: (Value, Value) -> Bool
    ) -> [String] {
        guard JSONInput.value(of: json, Value.init(json:)) != nil else {
            return ["\(text(json)) is left to Foundation"]
        }
        guard let whole = AnyJSON(parsing: json) else { return ["\(text(json)) is no JSON"] }
        return [json, backwards(whole)].compactMap { difference(type, $0, areSame) }
    }

    /// What is found when one thing after the other in the text is left out, added, or replaced by another.
    package static func ofReadingChanged<Value: JSONReadable>(
        _ type: Value.Type, _ json: [UInt8], areSame: (Value, Value) -> Bool
    ) -> [String] {
        guard let whole = AnyJSON(parsing: json) else { return ["\(text(json)) is no JSON"] }
        return (changed(whole).map(backwards) + [withEscapes(json)] + damaged(json))
            .compactMap { difference(type, $0, areSame) }
    }

    private static func difference<Value: JSONReadable>(
        _ type: Value.Type, _ json: [UInt8], _ areSame: (Value, Value) -> Bool
    ) -> String? {
        let short = JSONInput.value(of: json, Value.init(json:))
        // Where the short way gives up, Foundation it is anyhow.
        guard let short else { return nil }
        let long = Result { try JSONDecoder().decode(type, from: Data(json)) }
        if case .success(let long) = long, areSame(short, long) { return nil }
        return "\(text(json)) is \(short), \(long) to Foundation"
    }

    // MARK: As it is written elsewhere

    private static func foundation(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return Array(try encoder.encode(value))
    }

    /// A value of which no more is known than this goes over `Codable`.
    private static func generally(_ value: some Encodable) throws -> [UInt8] {
        try JSON.encode(value, sortsKeys: false)
    }

    private static func text(_ json: [UInt8]?) -> String {
        json.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
    }

    // MARK: Other texts

    private static let others: [AnyJSON] = [
        .null, .bool(false), .integer(-7), .unsigned(.max), .number(0.5), .string("é\n"),
        .string("2026-02-05t19:31:13+01:30"), .array([]), .array([.null, .string("a")]),
        .object(["unknown": .integer(1)]),
    ]

    /// The value with one thing in it left out, added or put in the place of another, for all there are.
    private static func changed(_ value: AnyJSON) -> [AnyJSON] {
        switch value {
        case .object(let fields):
            others
                + fields.flatMap { key, field in
                    [AnyJSON.object(fields.filter { $0.key != key })]
                        + changed(field).map { .object(fields.merging([key: $0]) { $1 }) }
                } + others.map { .object(fields.merging(["unknown": $0]) { $1 }) }
        case .array(let elements):
            others + [.array(elements + elements), .array(elements + [.null])]
                + elements.indices.flatMap { index in
                    changed(elements[index]).map { element in
                        var elements = elements
                        elements[index] = element
                        return .array(elements)
                    }
                }
        default: others
        }
    }

    /// The JSON with the fields of each object in the contrary order.
    private static func backwards(_ value: AnyJSON) -> [UInt8] {
        switch value {
        case .object(let fields):
            Array("{ ".utf8)
                + fields.keys.sorted(by: >).map {
                    AnyJSON.string($0).bytes + Array(" :\t".utf8) + backwards(fields[$0] ?? .null)
                }
                .joined(separator: Array(" ,\n".utf8)) + Array(" }".utf8)
        case .array(let elements):
            Array("[".utf8) + elements.map(backwards).joined(separator: Array(", ".utf8)) + Array("]".utf8)
        default: value.bytes
        }
    }

    /// The same with all letters "e" as escapes, keys and values.
    private static func withEscapes(_ json: [UInt8]) -> [UInt8] {
        Array(text(json).replacingOccurrences(of: "e", with: #"\u0065"#).utf8)
    }

    /// The text with a few bytes changed.
    private static func damaged(_ json: [UInt8]) -> [[UInt8]] {
        var random = SeededRandom(seed: 3)
        let bytes = Array("{}[]\",:\\u0019eE.+-tfn \u{e9}".utf8)
        return (0..<200).map { _ in
            var text = json
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let at = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: at)
                case 1: text[at] = bytes[Int.random(in: 0..<bytes.count, using: &random)]
                default: if text.count > 1 { text.remove(at: at) }
                }
            }
            return text
        }
    }
}
