import Shared

/// An agent to begin your own with: a copy under another name, and a line in `AgentChoice.inSwift`.
///
/// It counts a user's texts. `docs/agents.md` says what else an agent may receive and answer.
struct TemplateAgent: IslandAgent {
    typealias Attributes = ChecklistAttributes

    /// What is remembered of one user; later fields as optionals.
    struct Model: Codable, Sendable, Equatable {
        var texts = 0
    }

    var initialModel: Model { Model() }

    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<ChecklistAttributes.ContentState> {
        // Everything else gets no answer; the card ends with the session, in its last state.
        guard case .message(let message) = event, message.wantsAnswer, !message.text.isEmpty else {
            return AgentResponse()
        }
        model.texts += 1
        let state = ChecklistAttributes.ContentState(
            title: "Ten texts", done: min(model.texts, 10), total: 10, lastDone: String(message.text.prefix(40)))
        return AgentResponse(replies: [AgentReply("That was text \(model.texts).")], island: .show(state))
    }
}
