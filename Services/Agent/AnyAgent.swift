import Foundation
package import Shared

/// An agent with its types hidden: models and states are JSON bytes here.
///
/// It stands between an agent and the rest of the service, and lets no state through that a phone would drop.
package struct AnyAgent: Sendable {
    package typealias Respond =
        @Sendable (_ event: AgentEvent, _ model: [UInt8]?, _ context: AgentContext) async throws -> Outcome

    /// The kind of Island that the agent feeds.
    package let kind: IslandKind
    private let run: Respond

    /// An agent of any make; `run` makes its outcome with `Outcome.init(_:model:kind:context:encode:)`.
    package init(kind: IslandKind, run: @escaping Respond) {
        self.kind = kind
        self.run = run
    }

    /// An agent written in Swift.
    package init<Agent: IslandAgent>(_ agent: Agent) {
        self.init(agent, kind: IslandKind(Agent.Attributes.self), model: .codable, state: .codable)
    }

    /// One whose model and states write and read themselves.
    package init<Agent: IslandAgent>(_ agent: Agent)
    where Agent.Model: JSONCodable, Agent.Attributes: JSONCodable, Agent.Attributes.ContentState: JSONCodable {
        self.init(agent, kind: IslandKind(Agent.Attributes.self), model: .direct, state: .direct)
    }

    private init<Agent: IslandAgent>(
        _ agent: Agent, kind: IslandKind, model coding: JSONCoding<Agent.Model>,
        state: JSONCoding<Agent.Attributes.ContentState>
    ) {
        self.init(kind: kind) { event, stored, context in
            var model = try Self.model(of: agent, from: stored, coding)
            let response = try await agent.respond(to: event, model: &model, context: context)
            return Outcome(
                response, model: try coding.encode(model), kind: kind, context: context,
                encode: { value throws(ContentStateError) in try ContentStateCodec.encode(value, state) })
        }
    }

    /// Has the agent answer one event.
    ///
    /// - Parameter model: what the last outcome left; `nil` for a user who has never been heard of.
    /// - Throws: `UnreadableModel`, or what the agent throws.
    package func respond(
        to event: AgentEvent, model: [UInt8]?, context: AgentContext
    ) async throws -> Outcome {
        try await run(event, model, context)
    }

    private static func model<Agent: IslandAgent>(
        of agent: Agent, from stored: [UInt8]?, _ coding: JSONCoding<Agent.Model>
    ) throws -> Agent.Model {
        guard let stored else { return agent.initialModel }
        do {
            return try coding.decode(stored)
        } catch {
            throw UnreadableModel(type: "\(Agent.Model.self)", reason: "\(error)")
        }
    }

    /// A stored model that this build's type cannot read: its fields have changed.
    package struct UnreadableModel: Error, CustomStringConvertible {
        package let type: String
        package let reason: String

        package var description: String { "the stored model is not a \(type) any more: \(reason)" }
    }
}

extension AnyAgent {
    /// What an agent made of one event.
    package struct Outcome: Sendable {
        /// The states in it are JSON that a phone reads, in a push that is small enough.
        package let response: AgentResponse<[UInt8]>
        /// The user's model after the event; `nil` leaves it as it was.
        package let model: [UInt8]?
        /// Why the agent's state was not taken.
        ///
        /// The replies still go out, and the Island keeps its last good state.
        package let refusal: ContentStateError?

        /// Checks what an agent returned; `encode` makes a state's JSON and refuses what a phone would drop.
        package init<State: Sendable>(
            _ response: AgentResponse<State>, model: [UInt8]?, kind: IslandKind, context: AgentContext,
            encode: (State) throws(ContentStateError) -> [UInt8]
        ) {
            self.model = model
            do {
                let island = try Self.check(response.island, kind, context, encode)
                self.response = AgentResponse(replies: response.replies, island: island)
                refusal = nil
            } catch {
                // A card whose last state is bad ends all the same, with the state that it has.
                let isEnd = if case .end = response.island { true } else { false }
                self.response = AgentResponse(replies: response.replies, island: isEnd ? .end(nil) : .unchanged)
                refusal = error
            }
        }

        private static func check<State: Sendable>(
            _ island: AgentIsland<State>, _ kind: IslandKind, _ context: AgentContext,
            _ encode: (State) throws(ContentStateError) -> [UInt8]
        ) throws(ContentStateError) -> AgentIsland<[UInt8]> {
            switch island {
            case .show(let state, let alert, let priority, let staleAfter):
                let json = try encode(state)
                try checkSize(json, alert ?? kind.startAlert, kind, context)
                return .show(json, alert: alert, priority: priority, staleAfter: staleAfter)
            case .end(let state?):
                let json = try encode(state)
                try checkSize(json, kind.startAlert, kind, context)
                return .end(json)
            case .end(nil): return .end(nil)
            case .unchanged: return .unchanged
            }
        }

        /// A state has to fit into a start, the largest of the pushes: any device may need one.
        private static func checkSize(
            _ json: [UInt8], _ alert: DesiredIsland.Alert, _ kind: IslandKind, _ context: AgentContext
        ) throws(ContentStateError) {
            let now = Int64(context.now.timeIntervalSince1970)
            _ = try PushBody.start(
                timestamp: now, contentState: json, attributesType: kind.attributesType,
                attributes: kind.attributes(
                    userID: context.user.id ?? context.user.handle, sessionID: context.session.id),
                alert: alert, staleDate: now, relevanceScore: 100, asksForUpdateToken: true)
        }
    }
}
