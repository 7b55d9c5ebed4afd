import Foundation
import Shared
import Testing

@testable import IslandCtl

/// Each trap between a state and the type that a phone reads it as.
struct LintTests {
    struct Trap: Sendable, CustomStringConvertible {
        /// Replaces a field of the example; `nil` takes it away.
        let field: String
        let value: AnyJSON?
        let name: Finding.Name
        let effect: Finding.Effect
        var path: String?
        var description: String { "\(field) = \(value?.inWords ?? "absent")" }
    }

    static let traps = [
        Trap(field: "count", value: .number(3.5), name: .fractionIntoInt, effect: .dropped),
        Trap(field: "count", value: .string("3"), name: .numberAsText, effect: .dropped),
        Trap(field: "count", value: .null, name: .null, effect: .dropped),
        Trap(field: "count", value: nil, name: .missingKey, effect: .dropped),
        Trap(field: "count", value: .bool(true), name: .wrongType, effect: .dropped),
        Trap(field: "count", value: .unsigned(UInt64.max), name: .numberOutOfRange, effect: .dropped),
        Trap(field: "endEpoch", value: .string("2026-02-05T19:31:13Z"), name: .dateAsText, effect: .dropped),
        Trap(field: "endEpoch", value: .integer(1_790_000_000_000), name: .epochInMilliseconds, effect: .misread),
        Trap(field: "endEpoch", value: .integer(800_000_000), name: .epochSince2001, effect: .misread),
        Trap(field: "when", value: .integer(1_685_952_000), name: .dateAsUnixSeconds, effect: .misread),
        Trap(field: "when", value: .string("2026-02-05"), name: .dateAsText, effect: .dropped),
        Trap(field: "share", value: .string("0.5"), name: .numberAsText, effect: .dropped),
        Trap(field: "isOn", value: .integer(1), name: .wrongType, effect: .dropped),
        Trap(field: "mode", value: .string("Calm"), name: .unknownEnumCase, effect: .dropped),
        Trap(field: "phase", value: .string("soon"), name: .unknownEnumCase, effect: .misread),
        Trap(field: "stops", value: .object([:]), name: .wrongType, effect: .dropped),
        Trap(
            field: "stops", value: .array([.object(["name": .string("A"), "minutes": .integer(300)])]),
            name: .numberOutOfRange, effect: .dropped, path: "stops[0].minutes"),
        Trap(field: "scores", value: .object(["a": .null]), name: .null, effect: .dropped, path: "scores.a"),
        Trap(field: "id", value: .string("junk"), name: .badUUID, effect: .dropped),
        Trap(field: "picture", value: .string("aGk"), name: .badBase64, effect: .dropped),
        Trap(field: "page", value: .string(""), name: .badURL, effect: .dropped),
        Trap(field: "page", value: .null, name: .nullOptional, effect: .note),
        Trap(field: "later", value: .string("A"), name: .wrongType, effect: .dropped),
        Trap(field: "colour", value: .string("red"), name: .unknownKey, effect: .note),
        Trap(field: "userID", value: .string("u"), name: .attributesKey, effect: .note),
    ]

    @Test(arguments: traps)
    func `a trap is named, and the phone's decoder agrees about its effect`(trapped: Trap) throws {
        let report = StateReport(try state(trapped.field, trapped.value), kind: trap)
        #expect(report.findings.map(\.name) == [trapped.name])
        #expect(report.findings.first?.effect == trapped.effect)
        #expect(report.findings.first?.path == trapped.path ?? trapped.field)
        #expect(report.isShown == (trapped.effect != .dropped))
    }

    @Test func `the example has nothing to find and says its size`() throws {
        for kind in IslandKind.all + [trap] {
            let report = StateReport(try kind.example(), kind: kind)
            #expect(report.findings.isEmpty)
            #expect(report.isShown)
            let sizes = try #require(report.sizes)
            #expect(try sizes.state == kind.example().count)
            #expect(sizes.state < sizes.update && sizes.update < sizes.start && sizes.start < 4096)
        }
    }

    @Test func `a key in the wrong case is named once, not also as missing and unknown`() throws {
        guard case .object(var fields)? = AnyJSON(parsing: try trap.example()) else { return }
        fields["end_epoch"] = fields.removeValue(forKey: "endEpoch")
        let report = StateReport(AnyJSON.object(fields).bytes, kind: trap)
        #expect(report.findings.map(\.name) == [.wrongKeyCase])
        #expect(!report.isShown)
    }

    @Test func `what is no object at all is named`() throws {
        let cases: [(String, Finding.Name)] = [
            ("{", .notJSON), ("", .notJSON), ("[1]", .notAnObject), ("3", .notAnObject),
            (#""{\"count\":1}""#, .stateAsText), (#"{"aps":{"content-state":{}}}"#, .wholePush),
        ]
        for (text, name) in cases {
            let report = StateReport(Array(text.utf8), kind: trap)
            #expect(report.findings.map(\.name) == [name], "\(text)")
            #expect(!report.isShown)
        }
    }

    @Test func `a repeated key, an equal state and one too large are named`() throws {
        let coach = try IslandKind.named("CoachAttributes")
        let twice = Array(#"{"calories":1,"calories":2,"goal":3,"streak":4,"lastMeal":""}"#.utf8)
        #expect(StateReport(twice, kind: coach).findings.map(\.name) == [.duplicateKey])
        let reordered = Array(#"{"goal":3,"calories":1.0,"streak":4,"lastMeal":""}"#.utf8)
        let same = Array(#"{"calories":1,"goal":3,"streak":4,"lastMeal":""}"#.utf8)
        #expect(StateReport(same, kind: coach, previous: reordered).findings.map(\.name) == [.equalState])
        let large = AnyJSON.object([
            "calories": .integer(1), "goal": .integer(1), "streak": .integer(1),
            "lastMeal": .string(String(repeating: "x", count: 4000)),
        ]).bytes
        let report = StateReport(large, kind: coach)
        #expect(report.findings.map(\.name) == [.tooLarge])
        #expect(report.text.contains("content-state.lastMeal"))
        #expect(!report.isShown)
    }

    private func state(_ field: String, _ value: AnyJSON?) throws -> [UInt8] {
        guard case .object(var fields)? = AnyJSON(parsing: try trap.example()) else { return [] }
        fields[field] = value
        return AnyJSON.object(fields).bytes
    }
}
