import Foundation
import Shared

/// What the small agents have in common: a text gets a text, and the state to show follows from the model.
protocol TextAgent: IslandAgent {
    typealias State = Attributes.ContentState

    /// Does what a text asks for and says so; `nil` says nothing.
    func answer(_ text: String, _ model: inout Model, at now: Date) -> String?

    /// Takes an event of the team's own backend, whose payload is JSON; false if it is none of this agent's business.
    func take(_ event: CustomEvent, _ model: inout Model, at now: Date) -> Bool

    /// What the Island shows; `nil` as long as there is nothing to show.
    func state(of model: Model, at now: Date) -> State?

    /// Whether what the backend reports may start a card where no session is open.
    ///
    /// Who waits for something wants to see that it moves; who gets points need not be woken.
    var startsCardByEvent: Bool { get }

    /// What lights the screen up when the Island moves from one state to the next.
    func milestone(from shown: State?, to state: State) -> DesiredIsland.Alert?
}

extension TextAgent {
    var startsCardByEvent: Bool { false }

    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<State> {
        switch event {
        case .message(let message):
            guard message.wantsAnswer else { return AgentResponse() }
            let text = String(message.text.prefix(longestText))
            let said = answer(text, &model, at: context.now)
            return response(said, model, context)
        case .custom(let event):
            guard take(event, &model, at: context.now), startsCardByEvent || !context.session.isNew else {
                return AgentResponse()
            }
            return response(nil, model, context)
        case .reaction, .edit: return AgentResponse()
        case .sessionEnding: return AgentResponse(island: .end(state(of: model, at: context.now)))
        }
    }

    /// Characters of a text that are read.
    private var longestText: Int { 2000 }

    private func response(_ said: String?, _ model: Model, _ context: AgentContext) -> AgentResponse<State> {
        let replies = said.map { [AgentReply($0)] } ?? []
        guard let state = state(of: model, at: context.now) else { return AgentResponse(replies: replies) }
        // What was shown by an older build may not be readable any more; then the state counts as new.
        let shown = context.contentState.flatMap { try? ContentStateCodec.decode(State.self, from: $0) }
        let isNews = state != shown || context.session.isNew
        return AgentResponse(
            replies: replies,
            island: .show(
                state, alert: milestone(from: shown, to: state), priority: isNews ? .now : .whenConvenient))
    }
}

extension CustomEvent {
    /// The payload, if the event has this name and its JSON is of that type.
    func payload<Payload: Decodable>(_ name: String, as type: Payload.Type) -> Payload? {
        guard self.name == name else { return nil }
        // A backend may post whatever it likes; what cannot be read is not meant for this agent.
        return try? JSONDecoder().decode(type, from: Data(payload.utf8))
    }
}

extension String {
    /// The words in lower case, without what stands between them.
    var plainWords: [String] {
        lowercased().replacing("’", with: "'").split { !$0.isLetter && !$0.isNumber && $0 != "'" }.map(String.init)
    }

    /// The first whole number, "1,200" among them.
    var firstNumber: Int? {
        firstMatch(of: /[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}/).flatMap { Int($0.output.replacing(",", with: "")) }
    }

    /// With a capital letter at its beginning.
    var capitalizedOnce: String { prefix(1).uppercased() + dropFirst() }
}
