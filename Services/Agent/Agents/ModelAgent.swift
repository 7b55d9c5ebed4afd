import Foundation
import Runtime
import Shared

/// A language model as the agent: it is told the conversation, answers in words, and sets the card with its one tool.
///
/// It sees one user's conversation and card, and whatever it says goes to this user: asking it for somebody else's
/// leads nowhere, because it has nothing of theirs and no way to name them.
struct ModelAgent: Sendable {
    let chat: ModelChat
    /// The kind of Island that it feeds.
    let kind: IslandKind
    /// The one tool, with the kind's fields as its parameters.
    private let tool: AnyJSON

    /// How often the model is asked about one event: once, again after a call, and again after a refused one.
    static let mostRounds = 3

    /// The model said nothing and did nothing, although it was written to.
    struct SaidNothing: Error, CustomStringConvertible {
        let description = "the model neither answered nor set a state"
    }

    init(chat: ModelChat, kind: IslandKind) throws(ContentStateError) {
        self.chat = chat
        self.kind = kind
        tool = try Self.tool(kind)
    }

    static func tool(_ kind: IslandKind) throws(ContentStateError) -> AnyJSON {
        guard case .object(var parameters)? = AnyJSON(parsing: try kind.schema()) else { throw .notJSON }
        // Not every endpoint takes these in a tool's parameters, and none needs them.
        for key in ["$schema", "title", "examples"] { parameters[key] = nil }
        return .object([
            "type": .string("function"),
            "function": .object([
                "name": .string(ModelPrompt.tool), "description": .string(ModelPrompt.toolDescription),
                "parameters": .object(parameters),
            ]),
        ])
    }

    var agent: AnyAgent {
        AnyAgent(kind: kind) { event, model, context in try await respond(to: event, model, context) }
    }

    private func respond(
        to event: AgentEvent, _ stored: [UInt8]?, _ context: AgentContext
    ) async throws -> AnyAgent.Outcome {
        var memory = try Self.memory(stored)
        guard var content = ModelPrompt.content(of: event) else {
            return try outcome(AgentResponse(island: .end(nil)), memory, context)
        }
        let entry = String(decoding: AnyJSON.object(content).bytes, as: UTF8.self)
        guard Self.isAsked(event) else {
            if Self.isRemembered(event) { memory.add("user", entry) }
            return try outcome(AgentResponse(), memory, context)
        }
        content["time"] = .string("\(Timestamp(context.now))")
        content["card"] = context.contentState.flatMap { AnyJSON(parsing: $0) } ?? .null
        let talk = try await converse(memory, .object(content), context)
        memory.add("user", entry)
        if !talk.said.isEmpty { memory.add("assistant", talk.said) }
        guard !talk.said.isEmpty || talk.state != nil || !Self.wantsAnswer(event) else { throw SaidNothing() }
        return try outcome(
            AgentResponse(
                replies: talk.said.isEmpty ? [] : [AgentReply(talk.said)],
                island: talk.state.map { .show($0) } ?? .unchanged), memory, context)
    }

    // MARK: - The conversation

    private struct Talk {
        var said = ""
        /// The last state that the model set; a refused one if no better came.
        var state: [UInt8]?
        var refusals = 0
    }

    private func converse(_ memory: ModelMemory, _ content: AnyJSON, _ context: AgentContext) async throws -> Talk {
        var messages = [Self.message("system", ModelPrompt.instructions(kind))]
        messages += memory.entries.map { Self.message($0.role, $0.content) }
        messages.append(Self.message("user", String(decoding: content.bytes, as: UTF8.self)))
        var talk = Talk()
        for round in 1...Self.mostRounds {
            let mayCall = round < Self.mostRounds && talk.refusals < 2
            let answer = try await chat.ask(messages, tool: tool, mayCall: mayCall)
            talk.said = answer.text.isEmpty ? talk.said : answer.text
            guard mayCall, !answer.calls.isEmpty else { break }
            messages.append(answer.message)
            let refusals = talk.refusals
            for call in answer.calls { messages.append(take(call, &talk, context)) }
            // What was said beside a good call is the answer; without it the model is asked for its words.
            if talk.refusals == refusals, !answer.text.isEmpty { break }
        }
        return talk
    }

    /// Carries a call out; the result is for the model.
    private func take(_ call: ModelChat.Call, _ talk: inout Talk, _ context: AgentContext) -> AnyJSON {
        func result(_ text: String) -> AnyJSON {
            .object(["role": .string("tool"), "tool_call_id": .string(call.id), "content": .string(text)])
        }
        guard call.name == ModelPrompt.tool else { return result(ModelPrompt.unknownTool) }
        let state = Array(call.arguments.utf8)
        guard let refusal = refusal(of: state, context) else {
            talk.state = state
            return result(ModelPrompt.accepted)
        }
        talk.refusals += 1
        talk.state = talk.state ?? state
        return result(talk.refusals == 1 ? ModelPrompt.refused("\(refusal)") : ModelPrompt.refusedAgain("\(refusal)"))
    }

    private func refusal(of state: [UInt8], _ context: AgentContext) -> ContentStateError? {
        AnyAgent.Outcome(
            AgentResponse(island: .show(state)), model: nil, kind: kind, context: context, encode: kind.check
        ).refusal
    }

    private func outcome(
        _ response: AgentResponse<[UInt8]>, _ memory: ModelMemory, _ context: AgentContext
    ) throws -> AnyAgent.Outcome {
        AnyAgent.Outcome(
            response, model: try JSON.encode(memory), kind: kind, context: context, encode: kind.check)
    }

    private static func message(_ role: String, _ content: String) -> AnyJSON {
        .object(["role": .string(role), "content": .string(content)])
    }

    private static func memory(_ stored: [UInt8]?) throws -> ModelMemory {
        guard let stored else { return ModelMemory() }
        do {
            return try JSON.decode(ModelMemory.self, from: stored)
        } catch {
            throw AnyAgent.UnreadableModel(type: "\(ModelMemory.self)", reason: "\(error)")
        }
    }

    // MARK: - Which events

    /// Reactions are remembered only, and so is what Linq recovered late; a group has to mention the line.
    private static func isAsked(_ event: AgentEvent) -> Bool {
        switch event {
        case .message(let message): message.wantsAnswer
        case .edit, .custom: true
        case .reaction, .sessionEnding: false
        }
    }

    /// What others say in a group stays out of the user's conversation.
    private static func isRemembered(_ event: AgentEvent) -> Bool {
        switch event {
        case .message(let message): !message.chat.isGroup && !message.isOptOut
        case .reaction(let reaction): !reaction.chat.isGroup && reaction.isAdded
        case .edit, .custom, .sessionEnding: false
        }
    }

    private static func wantsAnswer(_ event: AgentEvent) -> Bool {
        if case .message = event { true } else { false }
    }
}
