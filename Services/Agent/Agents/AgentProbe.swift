import HTTPClient
import Runtime
import Shared

/// Whether an agent that is not part of this program can be reached, found out without asking it anything.
struct AgentProbe: Sendable {
    static let timeout = Duration.seconds(10)

    /// As the setting has it, for the finding.
    let name: String
    let request: HTTPClientRequest
    /// The model that has to be among those that a list names, if there is a list.
    var model: String?

    /// An agent's endpoint: OPTIONS is a question about the address, and no event.
    static func endpoint(_ url: String) -> AgentProbe {
        AgentProbe(name: "AGENT", request: HTTPClientRequest("OPTIONS", url, headers: [], body: []))
    }

    /// A model's API: the list of models costs nothing, and wants the key.
    static func model(_ url: String, model: String, key: Secret<String>?) -> AgentProbe {
        let base = url.hasSuffix("/chat/completions") ? String(url.dropLast("/chat/completions".count)) : url
        let headers = key.map { [(name: "Authorization", value: "Bearer \($0.reveal())")] } ?? []
        return AgentProbe(
            name: "AGENT_MODEL_URL", request: HTTPClientRequest("GET", base + "/models", headers: headers, body: []),
            model: model)
    }

    /// What is wrong; `nil` if nothing is, as far as can be seen from here.
    func finding(_ log: Log) async -> String? {
        let client = HTTPClient(maxBody: 4 << 20, userAgent: "isthmus-agent", log: log)
        let result: Result<HTTPClientResponse, HTTPClientError>
        do { result = .success(try await client.send(request, within: Self.timeout)) } catch {
            result = .failure(error)
        }
        await client.close()
        switch result {
        case .failure(let error): return "\(name): no answer from \(request.url): \(error)"
        case .success(let response): return finding(response)
        }
    }

    /// Any answer shows that somebody is there; only of a model's API is it known what it should be.
    private func finding(_ response: HTTPClientResponse) -> String? {
        if response.status >= 500, response.status != 501 {
            return "\(name): \(request.url) answered \(response.status)"
        }
        guard let model else { return nil }
        if [401, 403].contains(response.status) { return "AGENT_MODEL_KEY is not accepted (\(response.status))" }
        let listed = AnyJSON(parsing: response.body)?["data"]?.elements?.compactMap { $0["id"]?.text }
        guard response.status == 200, let listed, !listed.isEmpty else { return nil }
        return listed.contains(model) ? nil : "AGENT_MODEL: \(model) is not among the models that \(request.url) names"
    }
}
