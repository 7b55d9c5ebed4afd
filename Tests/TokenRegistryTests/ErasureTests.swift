import Database
import HTTPServer
import Shared
import Testing

@testable import TokenRegistry

/// What is left of a user who was erased: nothing, here and in the agent.
@Suite struct ErasureTests {
    @Test(arguments: StoreTests.Engine.allCases)
    func `erasing leaves nothing of the user behind`(engine: StoreTests.Engine) async throws {
        try await StoreTests().withBench(engine) { bench in
            try await bench.registerSam()
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb", session: "s1"))
            _ = try await bench.call("DELETE", "/v1/users/sam")
            let gone = IdentityChanged(
                userID: nil, canonicalHandle: "+12025559876", isErased: true, erasedUserID: "sam")
            let events = try await bench.events()
            #expect(events.last == InboundEvent(handle: "+12025559876", content: .identityChanged(gone)))
            try await expectEmpty(bench)
        }
    }

    private func expectEmpty(_ bench: Bench) async throws {
        for table in ["users", "handles", "former_handles", "start_tokens", "activities", "outbox"] {
            let rows = try await bench.database.read { try $0.run("SELECT 1 FROM registry_\(table)") }
            #expect(rows.isEmpty, "\(table)")
        }
    }

    @Test(arguments: StoreTests.Engine.allCases)
    func `erasing reaches what is kept under handles that the user has no more`(engine: StoreTests.Engine) async throws
    {
        try await StoreTests().withBench(engine) { bench in
            func put(_ user: String, _ handles: String) async throws {
                let answer = try await bench.call("PUT", "/v1/users/\(user)/handles", #"{"handles":[\#(handles)]}"#)
                #expect(answer.status == 204)
            }
            try await put("sam", #""+12025559876","sam@example.com","+12025550001""#)
            try await put("kim", #""+12025559876""#)
            try await put("sam", "")
            // One that comes back is a former one no more.
            try await put("sam", #""+12025550001""#)
            try await put("sam", #""+12025550001","+12025550002""#)
            let shown = try await bench.call("GET", "/v1/users/sam")
            #expect(shown.text.contains(#""formerHandles":["+12025559876","sam@example.com"]"#), "\(shown.text)")
            _ = try await bench.events()
            #expect(try await bench.call("DELETE", "/v1/users/sam").status == 204)
            let events = try await bench.events()
            let handles = ["+12025550001", "+12025550002", "+12025559876", "sam@example.com"]
            #expect(events.map(\.handle).sorted() == handles)
            for event in events {
                let gone = IdentityChanged(
                    userID: nil, canonicalHandle: event.handle, isErased: true, erasedUserID: "sam")
                #expect(event.content == .identityChanged(gone))
            }
            #expect(try await bench.record("+12025559876").userID == "kim")
            _ = try await bench.call("DELETE", "/v1/users/kim")
            _ = try await bench.events()
            try await expectEmpty(bench)
        }
    }
}
