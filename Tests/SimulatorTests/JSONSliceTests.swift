import Testing

@testable import Simulator

@Suite struct JSONSliceTests {
    private static let cases: [(String, [String], String?)] = [
        (#"{"a":{"b":1}}"#, ["a", "b"], "1"),
        (#" { "x" : "{\"a\":2}" , "a" : [1, {"b":"]"}] } "#, ["a"], #"[1, {"b":"]"}]"#),
        (#"{"a":"\\","b":"\""}"#, ["b"], #""\"""#),
        (#"{"a":1.50e2,"b":null}"#, ["a"], "1.50e2"),
        (#"{"a":1}"#, ["b"], nil),
        (#"[1]"#, ["a"], nil),
        (#"{"a":"#, ["a"], nil),
    ]

    @Test(arguments: cases) func `a value is cut out byte for byte`(json: String, path: [String], found: String?) {
        let value = JSONSlice.value(at: path, in: Array(json.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(value == found)
    }
}
