import Foundation
import Testing

@testable import Shared

/// The schema of a kind, which is found by watching its type decode.
struct SchemaTests {
    @Test func `every type of a field is recognised, and which may be left out`() throws {
        let stop = StateShape.object([
            StateShape.Field(name: "name", shape: .string, isOptional: false),
            StateShape.Field(name: "minutes", shape: .integer(type: "Int8"), isOptional: false),
        ])
        let expected: [(String, StateShape, Bool)] = [
            ("count", .integer(type: "Int"), false), ("endEpoch", .integer(type: "Int"), false),
            ("when", .date, false), ("share", .number, false), ("isOn", .boolean, false),
            ("mode", .choice(["calm", "wild"], isOpen: false), false),
            ("phase", .choice(["early", "late"], isOpen: true), false), ("stops", .array(stop), false),
            ("scores", .map(.integer(type: "Int")), false), ("id", .uuid, false), ("picture", .data, true),
            ("page", .url, true), ("later", stop, true),
        ]
        #expect(
            trap.shape() == .object(expected.map { StateShape.Field(name: $0.0, shape: $0.1, isOptional: $0.2) }))
    }

    @Test func `the coach's schema is exactly this`() throws {
        let schema = try IslandKind.named("CoachAttributes").schema()
        #expect(
            String(decoding: schema, as: UTF8.self) == """
                {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"CoachAttributes.ContentState",\
                "type":"object","properties":{\
                "calories":{"type":"integer","description":"eaten today, in kcal"},\
                "goal":{"type":"integer","description":"the day's goal, in kcal"},\
                "streak":{"type":"integer","description":"days in a row with at least one meal"},\
                "lastMeal":{"type":"string","description":"such as Chicken bowl · 600 cal"}},\
                "required":["calories","goal","streak","lastMeal"],"additionalProperties":false,\
                "examples":[{"calories":1240,"goal":2100,"lastMeal":"Chicken bowl · 600 cal","streak":6}]}
                """)
    }

    @Test(arguments: IslandKind.all.map(\.attributesType))
    func `a kind's required fields are those that a phone does not do without`(name: String) throws {
        let kind = try IslandKind.named(name)
        guard case .object(let example)? = AnyJSON(parsing: try kind.example()), case .object(let fields) = kind.shape()
        else {
            Issue.record("no object")
            return
        }
        #expect(Set(example.keys).isSubset(of: fields.map(\.name)))
        for field in fields {
            var without = example
            without[field.name] = nil
            let isTaken = (try? kind.check(AnyJSON.object(without).bytes)) != nil
            #expect(isTaken == field.isOptional, "\(field.name)")
        }
    }

    @Test(arguments: IslandKind.all.map(\.attributesType))
    func `a kind's schema is JSON whose notes are about fields that there are`(name: String) throws {
        let kind = try IslandKind.named(name)
        let schema = try #require(AnyJSON(parsing: try kind.schema()))
        #expect(schema["title"]?.text == "\(name).ContentState")
        #expect(schema["examples"]?.elements?.first == AnyJSON(parsing: try kind.example()))
        let described = String(decoding: try kind.schema(), as: UTF8.self).ranges(of: "\"description\":").count
        #expect(described == kind.type.fieldNotes.count)
    }
}
