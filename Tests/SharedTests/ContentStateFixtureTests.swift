import Foundation
import Shared
import Testing

/// The golden states of each kind, read as a phone reads them.
struct ContentStateFixtureTests {
    @Test func `each kind has golden files, and each folder a kind`() throws {
        #expect(try Fixture.names(in: "ContentState") == IslandKind.all.map(\.attributesType).sorted())
        for kind in IslandKind.all {
            let names = try Fixture.names(in: "ContentState/\(kind.attributesType)")
            #expect(Set(names).isSuperset(of: ["attributes.json", "example.json", "newer.json"]))
        }
    }

    @Test(arguments: IslandKind.all.map(\.attributesType))
    func `an example is written as its golden file, byte for byte`(name: String) throws {
        let kind = try IslandKind.named(name)
        let example = try Fixture.bytes("ContentState/\(name)/example.json")
        #expect(try kind.example() + Array("\n".utf8) == example)
        let attributes = try Fixture.bytes("ContentState/\(name)/attributes.json")
        #expect(try kind.attributes(userID: "user-42", sessionID: "s-1") + Array("\n".utf8) == attributes)
    }

    @Test(arguments: IslandKind.all.map(\.attributesType))
    func `old and newer states are read, and what comes back is read as the same`(name: String) throws {
        let kind = try IslandKind.named(name)
        for file in try Fixture.names(in: "ContentState/\(name)") where file != "attributes.json" {
            let once = try kind.check(try Fixture.bytes("ContentState/\(name)/\(file)"))
            #expect(try ContentStateCodec.check(once, kind: kind) == once, "\(file)")
        }
        #expect(throws: ContentStateError.self) { try kind.check(Array(#"{"unrelated":1}"#.utf8)) }
        let own = try kind.attributes(userID: "u", sessionID: nil)
        #expect(try kind.checkAttributes(own) == Array(#"{"userID":"u"}"#.utf8))
    }

    @Test func `an untouched decoder reads the golden files as the examples`() throws {
        for kind in IslandKind.all { try check(kind.type) }
        #expect(try read(CoachAttributes.self, "brief") == CoachAttributes.example)
        #expect(try read(OrderAttributes.self, "newer").status == .unknown)
        #expect(try read(DeliveryAttributes.self, "newer").phase == .unknown)
        #expect(try read(DeliveryAttributes.self, "older").courier == nil)
        #expect(try read(BalanceAttributes.self, "older").target == nil)
        #expect(try read(ChecklistAttributes.self, "older").next == nil)
    }

    @Test func `the brief's state keeps its four fields and no more`() throws {
        let json = try jsonObject(try IslandKind.named("CoachAttributes").example()) as? [String: Any]
        #expect(json?.keys.sorted() == ["calories", "goal", "lastMeal", "streak"])
    }

    @Test func `a kind is called by the bare name of its type`() {
        #expect(CoachAttributes.attributesType == "CoachAttributes")
        for kind in IslandKind.all { #expect(kind.attributesType == String(describing: kind.type)) }
        #expect(Set(IslandKind.all.map(\.attributesType)).count == IslandKind.all.count)
        #expect(throws: ContentStateError.unknownKind("Shared.CoachAttributes")) {
            try IslandKind.named("Shared.CoachAttributes")
        }
    }

    @Test func `no example holds a date or a null, and each start has words`() throws {
        for kind in IslandKind.all {
            let text = String(decoding: try kind.example(), as: UTF8.self)
            #expect(!text.contains("null") && !text.contains("T00:") && !text.contains(#"\/"#))
            #expect(!kind.startAlert.title.isEmpty && !kind.startAlert.body.isEmpty)
        }
    }

    private func read<Attributes: IslandAttributes>(
        _ type: Attributes.Type, _ file: String
    ) throws -> Attributes.ContentState {
        let json = Data(try Fixture.bytes("ContentState/\(Attributes.attributesType)/\(file).json"))
        return try JSONDecoder().decode(Attributes.ContentState.self, from: json)
    }

    private func check<Attributes: IslandAttributes>(_ type: Attributes.Type) throws {
        #expect(try read(type, "example") == Attributes.example)
        let json = Data(try Fixture.bytes("ContentState/\(Attributes.attributesType)/attributes.json"))
        let attributes = try JSONDecoder().decode(type, from: json)
        #expect(attributes == Attributes(userID: "user-42", sessionID: "s-1"))
    }
}
