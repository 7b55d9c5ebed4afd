import Testing

@testable import Parked

/// What is typed, and what it means.
struct CommandTests {
    private func parse(_ arguments: String...) throws -> ParkedCommand? { try ParkedCommand.parse(arguments) }

    @Test func `a command with everything that can be said`() throws {
        let command = try #require(
            try parse(
                "replay", "--stage", "inbound", "--id", "a", "--id", "b", "--reason", "agent", "--older-than", "15m",
                "--newer-than", "2d", "--limit", "3", "--dry-run", "--json"))
        #expect(command.action == .replay)
        #expect(command.selection.queue == .inbound)
        #expect(command.selection.ids == ["a", "b"])
        #expect(command.selection.reason == "agent")
        #expect(command.selection.olderThan == .seconds(900))
        #expect(command.selection.newerThan == .seconds(2 * 86400))
        #expect(command.selection.limit == 3)
        #expect(command.isDryRun && command.isJSON && !command.withHandles)
    }

    @Test func `what is not understood says why`() throws {
        let cases: [([String], String)] = [
            (["mend"], "unknown command mend; see isthmus-parked --help"),
            (
                ["list", "--stage", "outbound"],
                "--stage: no stage is called outbound; there are inbound, replies, islands, registry"
            ),
            (["list", "--limit", "0"], "--limit: expected a number from 1"),
            (["list", "--older-than", "soon"], "--older-than: expected 90s, 15m, 8h or 2d"),
            (["list", "--id"], "--id needs a value"),
            (["list", "--colour"], "unknown option --colour; see isthmus-parked --help"),
            (["drop"], "drop which of them? See isthmus-parked --help, or say --all"),
            (["replay", "--json"], "replay which of them? See isthmus-parked --help, or say --all"),
        ]
        for (arguments, words) in cases {
            let error = #expect(throws: UsageError.self) { try ParkedCommand.parse(arguments) }
            #expect(error?.description == words)
        }
    }

    @Test func `without a command, or asked for help, there is only the usage`() throws {
        #expect(try parse() == nil)
        #expect(try parse("drop", "--help") == nil)
        #expect(try parse("help") == nil)
    }

    @Test func `phone numbers and mail addresses are masked wherever they stand`() {
        let text = #"{"handle":"+12025550123","note":"call +1 (202) 555-0123 or sam@example.com","at":1770323473000}"#
        #expect(
            HandleMask.masked(text)
                == #"{"handle":"(phone number)","note":"call (phone number) or (mail address)","at":1770323473000}"#)
    }
}
