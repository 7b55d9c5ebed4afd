import Foundation
import Shared
import Testing

@testable import Agent

/// The coach, and agents that go wrong, behind `AnyAgent`.
struct CoachThroughAnyAgentTests {
    private let context = AgentContext(
        eventID: "e", now: Date(timeIntervalSince1970: 1_770_000_000), user: AgentUser(handle: "+12025550123", id: "u"),
        session: AgentSession(id: "s", isNew: true, startedAt: Date(timeIntervalSince1970: 1_770_000_000)))

    @Test func `model and state go in and out as JSON`() async throws {
        let agent = AnyAgent(CoachAgent())
        #expect(agent.kind.attributesType == "CoachAttributes")
        var talk = CoachConversation()
        let first = try await agent.respond(to: talk.message("toast 90"), model: nil, context: context)
        let second = try await agent.respond(to: talk.message("soup 200"), model: first.model, context: context)
        guard case .show(let json, nil, .now, nil) = second.response.island else {
            Issue.record("no state is shown")
            return
        }
        #expect(
            String(decoding: json, as: UTF8.self)
                == #"{"calories":290,"goal":2000,"lastMeal":"Soup · 200 cal","streak":1}"#)
        #expect(second.refusal == nil)
        #expect(second.response.replies.count == 1)
    }

    @Test func `a model that cannot be read is an error that says so`() async throws {
        var talk = CoachConversation()
        let event = talk.message("hi")
        await #expect(throws: AnyAgent.UnreadableModel.self) {
            try await AnyAgent(CoachAgent()).respond(to: event, model: Array(#"{"goal":"x"}"#.utf8), context: context)
        }
    }

    @Test func `a state that a phone would drop is refused and the reply still goes out`() async throws {
        let outcome = try await AnyAgent(BrokenAgent(progress: .nan)).respond(
            to: .sessionEnding, model: nil, context: context)
        #expect(outcome.response == AgentResponse(replies: [AgentReply("On its way")], island: .unchanged))
        guard case .unencodable(path: "progress", _)? = outcome.refusal else {
            Issue.record("\(String(describing: outcome.refusal))")
            return
        }
    }

    @Test func `a bad last state ends the card with the one it has`() async throws {
        let outcome = try await AnyAgent(BrokenAgent(progress: .infinity, ends: true)).respond(
            to: .sessionEnding, model: nil, context: context)
        #expect(outcome.response.island == .end(nil))
        #expect(outcome.refusal != nil)
    }

    @Test func `a state too large for a push is refused by the names of its fields`() async throws {
        let agent = BrokenAgent(progress: 0.5, merchant: String(repeating: "é", count: 2000))
        let outcome = try await AnyAgent(agent).respond(to: .sessionEnding, model: nil, context: context)
        guard case .tooLarge(_, 4096, let largest)? = outcome.refusal else {
            Issue.record("\(String(describing: outcome.refusal))")
            return
        }
        #expect(largest.first?.path == "content-state.merchant")
        #expect(outcome.response.replies.count == 1)
    }

    @Test func `a state from elsewhere is read as a phone reads it`() throws {
        let kind = try IslandKind.named("CoachAttributes")
        let island = AgentIsland.show(Array(#"{"calories":600.5,"goal":1,"streak":1,"lastMeal":""}"#.utf8))
        let outcome = AnyAgent.Outcome(
            AgentResponse(island: island), model: nil, kind: kind, context: context, encode: kind.check)
        #expect(
            outcome.refusal == .undecodable(path: "calories", expected: "Int", found: "the number 600.5"))
    }
}

private struct BrokenAgent: IslandAgent {
    typealias Attributes = DeliveryAttributes
    var progress: Double
    var merchant = "North Kitchen"
    var ends = false
    var initialModel: Int { 0 }

    func respond(
        to event: AgentEvent, model: inout Int, context: AgentContext
    ) async throws -> AgentResponse<DeliveryAttributes.ContentState> {
        let state = DeliveryAttributes.ContentState(
            phase: .enRoute, etaEpoch: 0, progress: progress, merchant: merchant)
        return AgentResponse(replies: [AgentReply("On its way")], island: ends ? .end(state) : .show(state))
    }
}
