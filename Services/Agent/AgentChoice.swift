import Foundation
import HTTPClient
import Runtime
import Shared
import Stage

/// The agents that `AGENT` can name.
enum AgentChoice {
    /// The agents that are part of this program, by name.
    ///
    /// An agent of your own: one file like `TemplateAgent.swift`, and one line here.
    static let inSwift: [(name: String, agent: AnyAgent)] = [
        ("coach", AnyAgent(CoachAgent())),
        ("order", AnyAgent(OrderAgent())),
        ("delivery", AnyAgent(DeliveryAgent())),
        ("balance", AnyAgent(BalanceAgent())),
        ("checklist", AnyAgent(ChecklistAgent())),
        ("template", AnyAgent(TemplateAgent())),
    ]

    case swift(AnyAgent)
    /// An endpoint of the team's own.
    case http(url: String)
    /// A language model.
    case model

    static var names: String { inSwift.map(\.name).joined(separator: ", ") + ", http:URL or llm" }

    init(_ text: String) throws(SettingsProblem) {
        if let found = Self.inSwift.first(where: { $0.name == text }) {
            self = .swift(found.agent)
        } else if text == "llm" {
            self = .model
        } else if text.hasPrefix("http:") {
            self = .http(url: try Self.url(String(text.dropFirst(5))))
        } else {
            throw SettingsProblem("expected \(Self.names)")
        }
    }

    /// A whole URL, as in "http:https://agent.example.com/events".
    static func url(_ text: String) throws(SettingsProblem) -> String {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
            url.user == nil, url.fragment == nil
        else { throw SettingsProblem("expected a whole URL, https:// or http://") }
        return text
    }

    /// What is wrong with an agent whose kind the other services do not know: they would park its states.
    static func problem(with kind: IslandKind) -> String? {
        guard !IslandKind.all.contains(where: { $0.attributesType == kind.attributesType }) else { return nil }
        return "AGENT: its kind \(kind.attributesType) has no line in IslandKind.all"
            + " (Shared/ContentState/IslandKind.swift)"
    }

    /// The agent that `AGENT` names, made from the settings that it needs; `nil` if a setting is wrong, which
    /// `settings` knows then.
    static func agent(_ settings: inout Settings, log: Log) -> AnyAgent? { chosen(&settings, log: log).agent }

    /// The same, and what can be looked at beforehand if the agent is elsewhere.
    static func chosen(_ settings: inout Settings, log: Log) -> (agent: AnyAgent?, probe: AgentProbe?) {
        let choice = settings.optional("AGENT", "who answers: \(names)", default: "coach") { try AgentChoice($0) }
        let remote = RemoteAgentSettings(&settings)
        switch choice {
        case .swift(let agent):
            if let problem = problem(with: agent.kind) { settings.reject(problem) }
            return (agent, nil)
        case .http(let url): return (remote.httpAgent(url, &settings, log), .endpoint(url))
        case .model: return (remote.modelAgent(&settings, log), remote.modelProbe)
        }
    }
}

/// What the agents need that are not part of this program.
private struct RemoteAgentSettings {
    /// Bytes of an endpoint's answer.
    static let largestAnswer = 256 << 10

    let kind: IslandKind?
    let timeout: Duration
    let signer: WebhookSigner?
    let modelURL: String?
    let model: String?
    let modelKey: Secret<String>?

    init(_ settings: inout Settings) {
        kind = settings.optional(
            "AGENT_KIND",
            "the kind of Island that http: and llm feed: "
                + IslandKind.all.map(\.attributesType).joined(separator: ", "),
            default: CoachAttributes.attributesType
        ) { try IslandKind.named($0) }
        timeout = settings.duration(
            "AGENT_TIMEOUT", "how long one try to ask http: or llm may take", default: "30s")
        signer = settings.absent(
            "AGENT_HTTP_SECRET", "what requests of http: are signed with, whsec_…; several by commas"
        ) { try WebhookSigner($0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }) }
        modelURL = settings.absent(
            "AGENT_MODEL_URL", "the OpenAI-compatible API of llm, such as https://api.openai.com/v1"
        ) { text in
            let url = try AgentChoice.url(text)
            return url.hasSuffix("/chat/completions") ? url : url + (url.hasSuffix("/") ? "" : "/") + "chat/completions"
        }
        model = settings.absent("AGENT_MODEL", "the name of the model of llm") { $0 }
        modelKey = settings.absent("AGENT_MODEL_KEY", "the key for the API of llm, if it wants one") { Secret($0) }
    }

    func httpAgent(_ url: String, _ settings: inout Settings, _ log: Log) -> AnyAgent? {
        guard let signer else {
            settings.reject("AGENT_HTTP_SECRET is not set: AGENT=http:… signs its requests with it")
            return nil
        }
        guard let kind else { return nil }
        return HTTPAgent(endpoint: endpoint(url, log), signer: signer, kind: kind, clock: .system).agent
    }

    func modelAgent(_ settings: inout Settings, _ log: Log) -> AnyAgent? {
        guard let modelURL, let model else {
            settings.reject("AGENT=llm needs AGENT_MODEL_URL and AGENT_MODEL")
            return nil
        }
        guard let kind else { return nil }
        let chat = ModelChat(endpoint: endpoint(modelURL, log), model: model, key: modelKey)
        do {
            return try ModelAgent(chat: chat, kind: kind).agent
        } catch {
            settings.reject("AGENT_KIND: \(error)")
            return nil
        }
    }

    var modelProbe: AgentProbe? {
        guard let modelURL, let model else { return nil }
        return .model(modelURL, model: model, key: modelKey)
    }

    private func endpoint(_ url: String, _ log: Log) -> AgentEndpoint {
        AgentEndpoint(
            url: url, client: HTTPClient(maxBody: Self.largestAnswer, userAgent: "isthmus-agent", log: log),
            timeout: timeout)
    }
}
