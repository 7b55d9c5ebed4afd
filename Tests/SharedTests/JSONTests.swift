import Foundation
import TestSupport
import Testing

@testable import Shared

/// The short way gives what Foundation gives, and is the one that is taken.
@Suite struct JSONTests {
    /// Of everything that a field can be.
    struct Everything: Codable, Equatable {
        struct Inner: Codable, Equatable {
            var name: String
            var numbers: [Int]
        }

        enum Choice: String, Codable { case one, two }

        enum CodingKeys: String, CodingKey {
            case text, flag, int, small, large, double, float, optional, null, inner, list, nested, map, choice, time
        }

        var text = ""
        var flag = false
        var int = 0
        var small: Int8 = 0
        var large: UInt64 = 0
        var double = 0.0
        var float: Float = 0
        var optional: String?
        var null: Int?
        var inner = Inner(name: "", numbers: [])
        var list: [Inner] = []
        var nested: [[String]] = []
        var map: [String: Int] = [:]
        var choice = Choice.one
        var time = Timestamp(millisecondsSince1970: 0)
    }

    private static func foundation(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return Array(try encoder.encode(value))
    }

    private static let full = Everything(
        text: "Chicken bowl · 600 cal", flag: true, int: -5, small: -128, large: .max, double: 0.1, float: 0.1,
        optional: "here", inner: .init(name: "a/b", numbers: [1, -2, .max, .min]),
        list: [.init(name: "x", numbers: []), .init(name: "", numbers: [0])], nested: [[], ["a", "b"]],
        map: ["b": 1, "a": 2, "C": 3, "10": 4, "9": 5], choice: .two, time: Timestamp(millisecondsSince1970: 1_234))

    @Test func `a value of everything is written byte for byte as JSONEncoder writes it`() throws {
        for value in [Everything(), Self.full] {
            let short = try #require(JSONWriter.bytes(of: value, sortsKeys: true))
            #expect(try short == Self.foundation(value))
            #expect(
                try JSONDecoder().decode(Everything.self, from: Data(JSON.encode(value, sortsKeys: false))) == value)
        }
    }

    @Test func `every character is escaped as JSONEncoder escapes it`() throws {
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
            let value = ["a\(scalar)b"]
            #expect(try JSONWriter.bytes(of: value, sortsKeys: true) == Self.foundation(value), "U+\(scalar.value)")
        }
        for text in ["\u{2028}", "🥗", "e\u{301}", "\u{10FFFF}", "\"\\/", "a\0b"] {
            #expect(try JSONWriter.bytes(of: [text], sortsKeys: true) == Self.foundation([text]), "\(text)")
        }
    }

    @Test(arguments: [
        0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e17, 1e21, 1e300, .leastNonzeroMagnitude, .pi, 100,
        123_456_789.125, 1 / 3, 2e-7, .greatestFiniteMagnitude,
    ])
    func `a number is written and read as Foundation does it`(_ number: Double) throws {
        let bytes = try #require(JSONWriter.bytes(of: [number], sortsKeys: true))
        #expect(try bytes == Self.foundation([number]))
        #expect(JSONTape.value([Double].self, of: bytes) == [number])
        let small = Float(number)
        if small.isFinite { #expect(try JSONWriter.bytes(of: [small], sortsKeys: true) == Self.foundation([small])) }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan]) func `what is no number is refused as JSONEncoder refuses it`(
        _ number: Double
    ) {
        #expect(throws: EncodingError.self) { try JSON.encode([number]) }
    }

    /// Texts in which two readers might see different things.
    static let odd = [
        "", " ", "{", "}", "[]", "null", "true", "{}", " { } ", "{}x", "{\"a\":1,}", "{,}", "[1,]", "{\"a\" 1}",
        "{a:1}",
        #"{"int":1,"int":2}"#, #"{"int":1.0}"#, #"{"int":1e2}"#, #"{"int":01}"#, #"{"int":-0}"#, #"{"int":+1}"#,
        #"{"int":9223372036854775807}"#, #"{"int":9223372036854775808}"#, #"{"int":-9223372036854775808}"#,
        #"{"int":1e400}"#, #"{"int":"1"}"#, #"{"int":null}"#, #"{"int":true}"#, #"{"double":1}"#, #"{"double":1e400}"#,
        #"{"double":-1.5E-3}"#, #"{"double":1.}"#, #"{"double":.5}"#, #"{"small":128}"#, #"{"small":-128}"#,
        #"{"large":18446744073709551615}"#, #"{"large":-1}"#, #"{"flag":1}"#, #"{"flag":"true"}"#, #"{"text":1}"#,
        #"{"text":"\u00e9\ud83e\udd57\n\/\"\\"}"#, #"{"text":"\ud83e"}"#, #"{"text":"\udd57"}"#,
        #"{"text":"\ud83e\u0041"}"#,
        #"{"text":"\ud83e\ud83e"}"#, #"{"text":"\u00"}"#, #"{"text":"\x"}"#, #"{"text":"\u0000"}"#,
        "{\"text\":\"a\nb\"}",
        "{\"text\":\"a\tb\"}", "{\"text\":\"a\u{7F}b\"}", "{\"text\":\"", "{\"te\\u0078t\":\"escaped key\"}",
        #"{"map":{"a":1,"a":2}}"#, #"{"map":{"":1}}"#, #"{"map":{"é":1,"e\u0301":2}}"#, #"{"list":[{}]}"#,
        #"{"list":[{"name":"x","numbers":[1,2]}, null]}"#, #"{"nested":[["a"],null]}"#, #"{"inner":[]}"#,
        #"{"choice":"three"}"#, #"{"choice":null}"#, #"{"time":"yesterday"}"#, #"{"optional":null}"#, #"{"null":null}"#,
        #"{"unknown":{"deep":[1,2,{"x":[]}]}}"#, "\u{FEFF}{}", "{}\u{0}", "[1] 2", "nul", "tru", "{\"a\":nulll}",
        "//comment\n{}", "{'text':'x'}", String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
        "{\"text\":\"\u{1F957}\"}",
        "{\"unknown\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
        "{" + (0..<100).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}",
    ]

    /// Everything with defaults, so that a text needs only what it is about.
    struct Lenient: Decodable, Equatable {
        let value: Everything

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Everything.CodingKeys.self)
            var value = Everything()
            value.text = try container.decodeIfPresent(String.self, forKey: .text) ?? value.text
            value.flag = try container.decodeIfPresent(Bool.self, forKey: .flag) ?? value.flag
            value.int = try container.decodeIfPresent(Int.self, forKey: .int) ?? value.int
            value.small = try container.decodeIfPresent(Int8.self, forKey: .small) ?? value.small
            value.large = try container.decodeIfPresent(UInt64.self, forKey: .large) ?? value.large
            value.double = try container.decodeIfPresent(Double.self, forKey: .double) ?? value.double
            value.optional = try container.decodeIfPresent(String.self, forKey: .optional)
            value.null = try container.decodeIfPresent(Int.self, forKey: .null)
            value.inner = try container.decodeIfPresent(Everything.Inner.self, forKey: .inner) ?? value.inner
            value.list = try container.decodeIfPresent([Everything.Inner].self, forKey: .list) ?? value.list
            value.nested = try container.decodeIfPresent([[String]].self, forKey: .nested) ?? value.nested
            value.map = try container.decodeIfPresent([String: Int].self, forKey: .map) ?? value.map
            value.choice = try container.decodeIfPresent(Everything.Choice.self, forKey: .choice) ?? value.choice
            value.time = try container.decodeIfPresent(Timestamp.self, forKey: .time) ?? value.time
            self.value = value
        }
    }

    @Test(arguments: odd) func `an odd text is read or refused as JSONDecoder does it`(_ text: String) {
        Self.expectSame(Lenient.self, Array(text.utf8))
        Self.expectSame(AnyJSON.self, Array(text.utf8))
    }

    @Test func `text that is not UTF-8 is read or refused as JSONDecoder does it`() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F], [0x80]] {
            Self.expectSame(Lenient.self, Array(#"{"text":""#.utf8) + bytes + Array(#""}"#.utf8))
            Self.expectSame(Lenient.self, Array(#"{"unknown":""#.utf8) + bytes + Array(#""}"#.utf8))
            Self.expectSame(Lenient.self, Array(#"{"unknown"#.utf8) + bytes + Array(#"":1}"#.utf8))
        }
    }

    /// A million small changes to good texts find what nobody thought of; the seed is in what a failure says.
    @Test func `a text with bytes changed at random is read or refused as JSONDecoder does it`() throws {
        var random = SeededRandom(seed: 11)
        let seeds = Self.odd.map { Array($0.utf8) } + [try Self.foundation(Self.full)]
        let alphabet = Array("{}[]\",:\\u0019eE.+-tfn \u{e9}".utf8)
        for _ in 0..<20_000 {
            var text = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            guard text.count < 600 else { continue }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                let at = Int.random(in: 0...text.count, using: &random)
                if Bool.random(using: &random) || at == text.count {
                    text.insert(byte, at: at)
                } else if Bool.random(using: &random) {
                    text[at] = byte
                } else {
                    text.remove(at: at)
                }
            }
            Self.expectSame(Lenient.self, text)
        }
    }

    private static func expectSame<Value: Decodable & Equatable>(_ type: Value.Type, _ text: [UInt8]) {
        let long = Result { try JSONDecoder().decode(type, from: Data(text)) }
        let short = Result { try JSON.decode(type, from: text) }
        let words = String(decoding: text, as: UTF8.self)
        switch (long, short) {
        case (.success(let long), .success(let short)): #expect(short == long, "\(words)")
        case (.failure(let long), .failure(let short)): #expect("\(short)" == "\(long)", "\(words)")
        default: Issue.record("\(words): \(long) by JSONDecoder, \(short) here")
        }
    }

    struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Everything.CodingKeys.self)
            try container.encode(1, forKey: .int)
            try container.encode(2, forKey: .int)
        }
    }

    struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Everything.CodingKeys.self)
            var inner = container.nestedUnkeyedContainer(forKey: .list)
            try container.encode("after", forKey: .text)
            try inner.encode(1)
        }
    }

    struct Silent: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    struct Special: Encodable {
        var date = Date(timeIntervalSinceReferenceDate: 0.5)
        var data = Data([1, 2, 3])
        var url = URL(string: "https://example.com/a")
        var decimal = Decimal(string: "1.10")
    }

    enum Associated: Encodable { case pair(first: Int, second: String) }

    @Test func `what says its fields in another way is written as JSONEncoder writes it`() throws {
        #expect(try JSON.encode(Twice()) == Self.foundation(Twice()))
        #expect(try JSON.encode(Nested()) == Self.foundation(Nested()))
        #expect(try JSON.encode([Silent()]) == Self.foundation([Silent()]))
        #expect(try JSON.encode(Special()) == Self.foundation(Special()))
        #expect(
            try JSON.encode(Associated.pair(first: 1, second: "b"))
                == Self.foundation(Associated.pair(first: 1, second: "b")))
        #expect(try JSON.encode(["é": 1, "z": 2, "a\"b": 3]) == Self.foundation(["é": 1, "z": 2, "a\"b": 3]))
        #expect(try JSON.encode("alone") == Self.foundation("alone"))
        #expect(try JSON.encode(Int?.none) == Self.foundation(Int?.none))
    }

    /// Otherwise all would still be right, and slow; the same of each message is part of its golden file's test.
    @Test func `a content state takes the short way`() throws {
        let state = CoachAttributes.example
        let json = try #require(JSONWriter.bytes(of: state, sortsKeys: true))
        #expect(try json == Self.foundation(state))
        #expect(JSONTape.value(CoachAttributes.ContentState.self, of: json) == state)
    }
}
