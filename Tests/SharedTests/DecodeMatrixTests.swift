import Foundation
import Testing

@testable import Shared

/// What a default decoder takes and drops, and how the codec says so.
struct DecodeMatrixTests {
    struct Everything: Codable, Hashable, Sendable {
        enum Phase: String, Codable { case idle, running }
        enum Bare: Codable, Hashable { case idle, message(String) }
        struct Item: Codable, Hashable {
            var name: String
            var price: Int
        }
        var count: Int?
        var small: Int8?
        var big: Int64?
        var positive: UInt?
        var share: Double?
        var single: Float?
        var isOn: Bool?
        var text: String?
        var date: Date?
        var data: Data?
        var url: URL?
        var uuid: UUID?
        var phase: Phase?
        var bare: Bare?
        var items: [Item]?
        var names: [String: Int]?
        var grid: [[Int]]?
    }

    @Test(arguments: [
        #"{"count":3}"#, #"{"count":3.0}"#, #"{"count":1e2}"#, #"{"count":null}"#, "{}", #"{"big":9007199254740993}"#,
        #"{"share":3}"#, #"{"share":0.1}"#, #"{"date":800000000}"#, #"{"data":"aGk="}"#, #"{"url":"https://a/b"}"#,
        #"{"uuid":"0b1f6a1e-6d0e-4e0c-9e52-0f4c0a9f1d10"}"#, #"{"phase":"idle"}"#, #"{"bare":{"idle":{}}}"#,
        #"{"bare":{"message":{"_0":"hi"}}}"#, #"{"items":[]}"#, #"{"names":{"a":1}}"#, #"{"extra":{"a":[1,null]}}"#,
    ])
    func `what iOS reads is taken, and written so that it is read as the same`(json: String) throws {
        let state = try ContentStateCodec.decode(Everything.self, from: json.utf8)
        let bytes = try ContentStateCodec.encode(state)
        #expect(try JSONDecoder().decode(Everything.self, from: Data(bytes)) == state)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let json: String
        let path: String
        let expected: String
        let found: String
        var testDescription: String { json }

        init(_ json: String, _ path: String, _ expected: String, _ found: String) {
            self.json = json
            self.path = path
            self.expected = expected
            self.found = found
        }
    }

    @Test(arguments: [
        Refusal(#"{"count":3.5}"#, "count", "Int", "the number 3.5"),
        Refusal(#"{"count":"3"}"#, "count", "Int", #"the string "3""#),
        Refusal(#"{"count":true}"#, "count", "Int", "true"),
        Refusal(#"{"count":[1]}"#, "count", "Int", "an array"),
        Refusal(#"{"count":{}}"#, "count", "Int", "an object"),
        Refusal(#"{"small":300}"#, "small", "Int8", "the number 300"),
        Refusal(#"{"positive":-1}"#, "positive", "UInt", "the number -1"),
        Refusal(#"{"big":9223372036854775808}"#, "big", "Int64", "the number 9223372036854775808"),
        Refusal(#"{"share":"3.1"}"#, "share", "Double", #"the string "3.1""#),
        Refusal(#"{"single":1e39}"#, "single", "Float", "the number 1e+39"),
        Refusal(#"{"isOn":1}"#, "isOn", "Bool", "the number 1"),
        Refusal(#"{"isOn":"true"}"#, "isOn", "Bool", #"the string "true""#),
        Refusal(#"{"text":5}"#, "text", "String", "the number 5"),
        Refusal(#"{"date":"2026-02-05T19:31:13Z"}"#, "date", "Date", #"the string "2026-02-05T19:31:13Z""#),
        Refusal(#"{"data":"aGk"}"#, "data", "Data", #"the string "aGk""#),
        Refusal(#"{"url":""}"#, "url", "URL", #"the string """#),
        Refusal(#"{"uuid":"junk"}"#, "uuid", "UUID", #"the string "junk""#),
        Refusal(#"{"phase":"paused"}"#, "phase", "Phase", #"the string "paused""#),
        Refusal(#"{"phase":"Idle"}"#, "phase", "Phase", #"the string "Idle""#),
        Refusal(#"{"bare":"idle"}"#, "bare", "Bare", #"the string "idle""#),
        Refusal(#"{"items":{"0":1}}"#, "items", "Array<Item>", "an object"),
        Refusal(
            #"{"items":[{"name":"a","price":1},{"name":"b","price":2},{"name":"c","price":2.5}]}"#, "items[2].price",
            "Int", "the number 2.5"),
        Refusal(#"{"items":[{"name":"a"}]}"#, "items[0].price", "Int", "no such key"),
        Refusal(#"{"items":[{"name":"a","Price":1}]}"#, "items[0].price", "Int", #"no such key, but "Price""#),
        Refusal(#"{"items":[null]}"#, "items[0]", "Item", "null"),
        Refusal(#"{"names":{"a":"x"}}"#, "names.a", "Int", #"the string "x""#),
        Refusal(#"{"grid":[[1],[2,"x"]]}"#, "grid[1][1]", "Int", #"the string "x""#),
    ])
    func `what iOS drops is refused with the path, what it expects and what it found`(refusal: Refusal) {
        #expect(
            throws: ContentStateError.undecodable(
                path: refusal.path, expected: refusal.expected, found: refusal.found)
        ) {
            try ContentStateCodec.decode(Everything.self, from: refusal.json.utf8)
        }
    }

    @Test(arguments: [
        Refusal(#"{"calories":1240.5,"goal":2100,"streak":6,"lastMeal":""}"#, "calories", "Int", "the number 1240.5"),
        Refusal(#"{"calories":"1240","goal":2100,"streak":6,"lastMeal":""}"#, "calories", "Int", #"the string "1240""#),
        Refusal(#"{"calories":1240,"goal":2100,"streak":null,"lastMeal":""}"#, "streak", "Int", "null"),
        Refusal(#"{"calories":1240,"goal":2100,"streak":6}"#, "lastMeal", "String", "no such key"),
        Refusal(
            #"{"calories":1240,"goal":2100,"streak":6,"last_meal":""}"#, "lastMeal", "String",
            #"no such key, but "last_meal""#),
        Refusal(
            #"{"Calories":1240,"goal":2100,"streak":6,"lastMeal":""}"#, "calories", "Int",
            #"no such key, but "Calories""#),
    ])
    func `the coach's state is held to its four fields`(refusal: Refusal) throws {
        let kind = try IslandKind.named("CoachAttributes")
        #expect(
            throws: ContentStateError.undecodable(
                path: refusal.path, expected: refusal.expected, found: refusal.found)
        ) {
            try ContentStateCodec.check(Array(refusal.json.utf8), kind: kind)
        }
    }

    @Test func `what is no JSON object at all is told apart`() throws {
        let kind = try IslandKind.named("CoachAttributes")
        #expect(throws: ContentStateError.notJSON) { try kind.check(Array("{\"calories\":".utf8)) }
        #expect(throws: ContentStateError.notJSON) { try kind.check([]) }
        #expect(throws: ContentStateError.notJSON) { try kind.check([0xFF, 0xFE]) }
        #expect(throws: ContentStateError.notAnObject(found: "an array")) { try kind.check(Array("[1]".utf8)) }
        #expect(throws: ContentStateError.notAnObject(found: "the number 3")) { try kind.check(Array("3".utf8)) }
        #expect(throws: ContentStateError.notAnObject(found: "null")) { try kind.check(Array("null".utf8)) }
    }

    @Test func `a number without JSON is refused by its path`() {
        #expect(throws: ContentStateError.self) { try ContentStateCodec.encode(Everything(share: .nan)) }
        do {
            _ = try ContentStateCodec.encode(Everything(share: .infinity, grid: [[1]]))
        } catch {
            guard case .unencodable("share", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `a type that reads otherwise than it writes is found out`() {
        struct Lossy: Codable, Hashable, Sendable {
            var value: Int
            init(value: Int) { self.value = value }
            init(from decoder: any Decoder) throws { value = 0 }
        }
        #expect(throws: ContentStateError.notEqualAfterDecoding) { try ContentStateCodec.encode(Lossy(value: 1)) }
    }

    @Test func `a refusal reads as a sentence`() {
        let error = ContentStateError.undecodable(path: "items[2].price", expected: "Int", found: "the number 2.5")
        #expect(
            error.description
                == "iOS would drop this state: at items[2].price it expects Int, found the number 2.5")
    }
}
