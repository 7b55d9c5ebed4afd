import Foundation
import HTTPClient
import Runtime
import Shared

/// An agent that lives behind a URL, in whatever language: one signed POST an event.
///
/// What it remembers of a user is its own matter; it is told what the Island shows.
struct HTTPAgent: Sendable {
    let endpoint: AgentEndpoint
    let signer: WebhookSigner
    /// The kind of Island that it feeds.
    let kind: IslandKind
    let clock: WallClock

    var agent: AnyAgent {
        AnyAgent(kind: kind) { event, _, context in try await respond(to: event, context) }
    }

    private func respond(to event: AgentEvent, _ context: AgentContext) async throws -> AnyAgent.Outcome {
        let body = try HTTPAgentRequest(event, context, attributesType: kind.attributesType).encoded()
        let response = try await endpoint.post(body) {
            signer.headers(id: context.eventID, seconds: clock.seconds, body: body)
        }
        let answer = try HTTPAgentAnswer(response)
        return AnyAgent.Outcome(answer.response, model: nil, kind: kind, context: context) {
            state throws(ContentStateError) in
            if let name = answer.attributesType, name != kind.attributesType {
                throw .otherKind(name, expected: kind.attributesType)
            }
            return try kind.check(state)
        }
    }
}
