import Shared

@testable import Agent

/// An agent that does what the text says, so that a test knows what each text should lead to.
///
/// "show TEXT" shows it, "quiet TEXT" shows it without hurry, "alert TEXT" lights the screen up, "end" ends the card,
/// and anything else changes nothing. Each state is another one, by its count.
struct LedgerAgent: IslandAgent {
    struct Model: Codable, Sendable { var count = 0 }

    typealias Attributes = CoachAttributes

    let initialModel = Model()

    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<CoachAttributes.ContentState> {
        guard case .message(let message) = event else { return AgentResponse() }
        model.count += 1
        let words = message.text.split(separator: " ", maxSplits: 1).map(String.init)
        let state = CoachAttributes.ContentState(
            calories: model.count, goal: 2100, streak: 1, lastMeal: words.last ?? "")
        switch words.first {
        case "show": return AgentResponse(replies: [AgentReply("noted")], island: .show(state))
        case "quiet": return AgentResponse(island: .show(state, priority: .whenConvenient))
        case "alert":
            let alert = DesiredIsland.Alert(title: "Well done", body: "Look at this")
            return AgentResponse(replies: [AgentReply("well done")], island: .show(state, alert: alert))
        case "end": return AgentResponse(replies: [AgentReply("bye")], island: .end(state))
        default: return AgentResponse(replies: [AgentReply("hm")])
        }
    }
}
