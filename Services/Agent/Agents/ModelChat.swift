import Foundation
import HTTPClient
import Runtime
import Shared

/// A chat-completions endpoint as OpenAI describes it and many others offer it.
struct ModelChat: Sendable {
    let endpoint: AgentEndpoint
    let model: String
    let key: Secret<String>?

    /// What the model said.
    struct Answer: Equatable {
        /// Empty if it only called a tool.
        var text: String
        var calls: [Call]
        /// The message as it came, to be put into the conversation again.
        var message: AnyJSON
    }

    struct Call: Equatable {
        let id: String
        let name: String
        /// JSON text that the model wrote.
        let arguments: String
    }

    /// The longest answer that is sent to a person, in characters.
    static let longestAnswer = 4000
    static let mostCalls = 8

    func ask(_ messages: [AnyJSON], tool: AnyJSON, mayCall: Bool) async throws -> Answer {
        let request: AnyJSON = .object([
            "model": .string(model), "messages": .array(messages), "tools": .array([tool]),
            "tool_choice": .string(mayCall ? "auto" : "none"),
        ])
        let response = try await endpoint.post(request.bytes) {
            key.map { [("Authorization", "Bearer \($0.reveal())")] } ?? []
        }
        return try Self.answer(response)
    }

    static func answer(_ response: HTTPClientResponse) throws(UnexpectedAnswer) -> Answer {
        guard let json = AnyJSON(parsing: response.body) else {
            throw UnexpectedAnswer(path: "", expected: "JSON", found: "\(response.body.count) bytes that are none")
        }
        guard let choices = AnswerReader(json).field("choices"), let choice = try choices.list().first,
            let message = choice.field("message")
        else { throw UnexpectedAnswer(path: "choices[0].message", expected: "an object", found: "nothing") }
        let text = try message.field("content")?.text() ?? ""
        let calls = try message.field("tool_calls")?.list() ?? []
        guard calls.count <= mostCalls else {
            throw UnexpectedAnswer(path: "choices[0].message.tool_calls", expected: "\(mostCalls)", found: "more")
        }
        var read: [Call] = []
        for call in calls {
            guard let function = call.field("function") else { throw call.unexpected("a function") }
            read.append(
                Call(
                    id: try call.requireText("id"), name: try function.requireText("name"),
                    arguments: try function.requireText("arguments")))
        }
        return Answer(text: spoken(text), calls: read, message: echo(text, read))
    }

    /// What is meant for the person: without the thoughts that some models write first.
    private static func spoken(_ text: String) -> String {
        let said = text.replacing(/(?s)<think>.*?<\/think>/, with: "")
        return String(said.trimmed.prefix(longestAnswer))
    }

    /// Only what was understood goes back into the conversation.
    private static func echo(_ text: String, _ calls: [Call]) -> AnyJSON {
        let list = calls.map { call in
            AnyJSON.object([
                "id": .string(call.id), "type": .string("function"),
                "function": .object(["name": .string(call.name), "arguments": .string(call.arguments)]),
            ])
        }
        return .object([
            "role": .string("assistant"), "content": text.isEmpty ? .null : .string(text),
            "tool_calls": .array(list),
        ])
    }
}
