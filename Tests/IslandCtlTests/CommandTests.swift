import Foundation
import Shared
import Testing

@testable import IslandCtl

/// The commands as they are typed.
struct CommandTests {
    private let good = #"{"calories":600,"goal":2000,"streak":1,"lastMeal":"Bowl"}"#
    private let bad = #"{"calories":600.5,"goal":2000,"streak":1,"lastMeal":"Bowl"}"#

    @Test func `kinds names all of them with their fields`() throws {
        let text = run("kinds").output
        #expect(text.contains("CoachAttributes: calories, goal, streak, lastMeal\n"))
        #expect(text.contains("DeliveryAttributes: phase, etaEpoch, progress, merchant, courier?\n"))
        let list = try #require(AnyJSON(parsing: run("kinds", "--json").output.utf8)?.elements)
        #expect(list.compactMap { $0["attributesType"]?.text } == IslandKind.all.map(\.attributesType))
    }

    @Test func `a kind goes by its short name in any case`() throws {
        for name in ["coach", "Coach", "coachattributes", "CoachAttributes"] {
            let result = run("example", name, "--json")
            #expect(try Array(result.output.utf8) == IslandKind.named("CoachAttributes").example() + [0x0A])
        }
        let unknown = run("schema", "weather")
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("no kind is called weather; there are CoachAttributes"))
    }

    @Test func `check says shown or dropped, in words, in JSON and as a status`() throws {
        let shown = run("check", "coach", "good.json")
        #expect(shown.status == 0)
        #expect(shown.output.hasPrefix("shown: iOS reads it as CoachAttributes.ContentState\nsize: 57 bytes; "))
        let dropped = run("check", "coach", "bad.json")
        #expect(dropped.status == 1)
        #expect(
            dropped.output.hasPrefix(
                "dropped: iOS would drop this state: at calories it expects Int, found the number 600.5\n"
                    + "  dropped  fraction-into-int  calories: "))
        let json = try #require(AnyJSON(parsing: run("check", "coach", "bad.json", "--json").output.utf8))
        #expect(json["shown"] == .bool(false))
        #expect(json["path"] == .string("calories"))
        #expect(json["expected"] == .string("Int"))
        #expect(json["findings"]?.elements?.first?["name"] == .string("fraction-into-int"))
        let again = run("check", "coach", "good.json", "--previous", "good.json")
        #expect(again.output.contains("note  equal-state: "))
    }

    @Test func `what is not understood has status 2 and says why`() {
        #expect(run("check", "coach", "absent.json").errors == "islandctl: cannot read absent.json\n")
        #expect(run("check", "coach").status == 2)
        #expect(run("frobnicate").errors.contains("unknown command frobnicate"))
        #expect(run("kinds", "--previous", "x").errors.contains("unknown option --previous"))
        #expect(run("topology", "--partitions", "0").errors.contains("a number from 1 to 256"))
        #expect(run("topology", "--partitions").errors.contains("needs a value"))
        #expect(run().output == IslandCtl.usage)
        #expect(run("check", "--help").output == IslandCtl.usage)
    }

    @Test func `topology is what the broker imports`() throws {
        let result = run("topology", "--partitions", "2", "--vhost", "/x")
        #expect(result.status == 0)
        #expect(AnyJSON(parsing: result.output.utf8)?["queues"]?.elements?.isEmpty == false)
    }

    @Test func `permissions are what the broker imports`() throws {
        let list = AnyJSON(parsing: run("permissions", "--vhost", "/x").output.utf8)?["permissions"]?.elements
        #expect(list?.compactMap { $0["user"]?.text } == BrokerUser.all.map(\.name))
        #expect(list?.allSatisfy { $0["vhost"] == .string("/x") } == true)
    }

    private func run(_ arguments: String...) -> IslandCtl.Result {
        IslandCtl.run(arguments) { path in
            switch path {
            case "good.json": Data(good.utf8)
            case "bad.json": Data(bad.utf8)
            default: throw CocoaError(.fileNoSuchFile)
            }
        }
    }
}
