import Foundation
import Testing

@testable import Shared

struct PushBodyTests {
    private let state = Array(#"{"calories":1240,"goal":2100,"lastMeal":"Chicken bowl · 600 cal","streak":6}"#.utf8)
    private let alert = DesiredIsland.Alert(title: "Goal", body: "Reached")

    @Test func `a start is the documented JSON, its keys in order`() throws {
        let body = try PushBody.start(
            timestamp: 1_751_990_400, contentState: state, attributesType: "CoachAttributes",
            attributes: Array(#"{"userID":"u"}"#.utf8), alert: .init(title: "A", body: "B", sound: "default"),
            staleDate: 1_751_994_000, relevanceScore: 75, asksForUpdateToken: true)
        let expected =
            #"{"aps":{"timestamp":1751990400,"event":"start","#
            + #""content-state":{"calories":1240,"goal":2100,"lastMeal":"Chicken bowl · 600 cal","streak":6},"#
            + #""attributes-type":"CoachAttributes","attributes":{"userID":"u"},"#
            + #""alert":{"title":"A","body":"B","sound":"default"},"#
            + #""stale-date":1751994000,"relevance-score":75.0,"input-push-token":1}}"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
        _ = try jsonObject(body)
    }

    @Test func `an update and an end carry what they have and no more`() throws {
        let quiet = try PushBody.update(timestamp: 1, contentState: Array("{}".utf8), staleDate: 2)
        #expect(
            String(decoding: quiet, as: UTF8.self)
                == #"{"aps":{"timestamp":1,"event":"update","content-state":{},"stale-date":2}}"#)
        let loud = try PushBody.update(timestamp: 1, contentState: Array("{}".utf8), staleDate: nil, alert: alert)
        #expect(
            String(decoding: loud, as: UTF8.self)
                == #"{"aps":{"timestamp":1,"event":"update","content-state":{},"#
                + #""alert":{"title":"Goal","body":"Reached"}}}"#
        )
        let end = try PushBody.end(timestamp: 1, contentState: Array("{}".utf8), dismissalDate: 3)
        #expect(
            String(decoding: end, as: UTF8.self)
                == #"{"aps":{"timestamp":1,"event":"end","content-state":{},"dismissal-date":3}}"#)
        let bare = try PushBody.end(timestamp: 1, contentState: nil, dismissalDate: nil)
        #expect(String(decoding: bare, as: UTF8.self) == #"{"aps":{"timestamp":1,"event":"end"}}"#)
    }

    @Test(arguments: [("", "B"), ("A", ""), (" ", "B"), ("A", "\n")])
    func `a start without words is refused`(title: String, body: String) {
        #expect(throws: ContentStateError.emptyAlert) {
            try PushBody.start(
                timestamp: 1, contentState: state, attributesType: "CoachAttributes", attributes: Array("{}".utf8),
                alert: .init(title: title, body: body), staleDate: nil)
        }
    }

    @Test func `4096 bytes pass and 4097 are refused, naming the largest fields`() throws {
        func body(_ filler: Int) throws -> [UInt8] {
            let json = #"{"notes":"\#(String(repeating: "n", count: filler))","list":[1,2,{"a":"}"}],"meal":"x"}"#
            return try PushBody.start(
                timestamp: 1_751_990_400, contentState: Array(json.utf8), attributesType: "CoachAttributes",
                attributes: Array(#"{"userID":"u"}"#.utf8), alert: alert, staleDate: 1_751_994_000)
        }
        let room = PushBody.limit - (try body(0)).count
        #expect(try body(room).count == 4096)
        let error = #expect(throws: ContentStateError.self) { try body(room + 1) }
        guard case .tooLarge(bytes: 4097, limit: 4096, let largest)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            largest.map(\.path) == [
                "content-state.notes", "content-state.list", "attributes.userID", "content-state.meal", "alert.body",
            ])
        #expect(largest[0].bytes == room + 1 + #""notes":"""#.utf8.count)
        #expect(largest[1].bytes == #""list":[1,2,{"a":"}"}]"#.utf8.count)
        #expect(error?.description.contains("content-state.notes (\(largest[0].bytes))") == true)
    }

    @Test func `an alert can be what is too large`() {
        let error = #expect(throws: ContentStateError.self) {
            try PushBody.update(
                timestamp: 1, contentState: Array("{}".utf8), staleDate: nil,
                alert: .init(title: "A", body: String(repeating: "é", count: 3000)))
        }
        guard case .tooLarge(_, _, let largest)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(largest.first == .init(path: "alert.body", bytes: 6002))
    }

    @Test(arguments: [
        "", "[]", "3", "null", "{", "}", #"{"a":1"#, #"{"a":1}}"#, #"{"a":[1}]"#, #"{"a":"}"#, #"{"a":"\"}"#, "{}{}",
        #"{"a":1},"x":{"b":2}"#, "x{}",
    ])
    func `what would break the envelope is refused`(json: String) {
        #expect(throws: ContentStateError.self) {
            try PushBody.update(timestamp: 1, contentState: Array(json.utf8), staleDate: nil)
        }
    }

    @Test func `a relevance that is no number is refused`() {
        #expect(throws: ContentStateError.self) {
            try PushBody.update(timestamp: 1, contentState: state, staleDate: nil, relevanceScore: .nan)
        }
    }

    @Test func `strings are escaped as JSONEncoder escapes them`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        var random = SystemRandomNumberGenerator()
        let scalars: [ClosedRange<UInt32>] = [
            0...0x7F, 0...0x1F, 0x80...0x7FF, 0x2000...0x206F, 0xE000...0xFFFF, 0x10000...0x10FFFF,
        ]
        for _ in 0..<3000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let range = scalars.randomElement(using: &random) ?? 0...0x7F
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                    text.unicodeScalars.append(scalar)
                }
            }
            #expect(JSONOutput.bytes(of: text, sortsKeys: false) == Array(try encoder.encode(text)))
        }
    }

    @Test func `a body says what an encoder would have said`() throws {
        struct Body: Codable, Equatable {
            struct Push: Codable, Equatable {
                var timestamp: Int64
                var event: String
                var contentState: CoachAttributes.ContentState
                var staleDate: Int64?
                var alert: DesiredIsland.Alert?
                enum CodingKeys: String, CodingKey {
                    case timestamp, event, alert
                    case contentState = "content-state"
                    case staleDate = "stale-date"
                }
            }
            var aps: Push
        }
        let state = CoachAttributes.ContentState(
            calories: .max, goal: .min, streak: 0, lastMeal: "a/\"b\"\\\u{1}é😀\u{2028}")
        let alert = DesiredIsland.Alert(title: "\u{7}/", body: "😀\n", sound: nil)
        let body = try PushBody.update(
            timestamp: 5, contentState: try ContentStateCodec.encode(state), staleDate: 6, alert: alert)
        let expected = Body(aps: .init(timestamp: 5, event: "update", contentState: state, staleDate: 6, alert: alert))
        #expect(try JSONDecoder().decode(Body.self, from: Data(body)) == expected)
        #expect(try jsonObject(body) == jsonObject(Array(try JSONEncoder().encode(expected))))
    }
}
