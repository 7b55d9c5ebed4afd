import Runtime
import Shared
import Testing

@testable import Agent

/// Which agent the settings ask for, and what they lack.
struct HTTPAgentSettingsTests {
    @Test func `each name gives the agent of its kind`() {
        let kinds = [
            "coach": "CoachAttributes", "order": "OrderAttributes", "delivery": "DeliveryAttributes",
            "balance": "BalanceAttributes", "checklist": "ChecklistAttributes", "template": "ChecklistAttributes",
        ]
        for (name, kind) in kinds { #expect(make(["AGENT": name]).agent?.kind.attributesType == kind) }
        #expect(make([:]).agent?.kind.attributesType == "CoachAttributes")
        for (name, agent) in AgentChoice.inSwift {
            #expect(make(["AGENT": name]).agent?.kind.attributesType == agent.kind.attributesType)
        }
    }

    @Test func `a kind that the other services do not know is named, with the place where it belongs`() {
        #expect(AgentChoice.inSwift.allSatisfy { AgentChoice.problem(with: $0.agent.kind) == nil })
        let problem = AgentChoice.problem(with: IslandKind(UnlistedAttributes.self))
        #expect(problem?.contains("UnlistedAttributes has no line in IslandKind.all") == true)
    }

    @Test func `an agent elsewhere feeds the kind that is set`() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let http = make([
            "AGENT": "http:https://agent.example.com/events", "AGENT_HTTP_SECRET": "\(secret), \(secret)",
            "AGENT_KIND": "OrderAttributes",
        ])
        #expect(http.problems.isEmpty)
        #expect(http.agent?.kind.attributesType == "OrderAttributes")
        let model = make([
            "AGENT": "llm", "AGENT_MODEL_URL": "http://127.0.0.1:11434/v1", "AGENT_MODEL": "small",
            "AGENT_KIND": "BalanceAttributes",
        ])
        #expect(model.problems.isEmpty)
        #expect(model.agent?.kind.attributesType == "BalanceAttributes")
    }

    @Test func `what is missing or wrong is said by the setting's name`() {
        let cases: [([String: String], String)] = [
            (["AGENT": "wizard"], "AGENT: expected coach, order"),
            (["AGENT": "http:"], "AGENT: expected a whole URL"),
            (["AGENT": "http:ftp://a/b"], "AGENT: expected a whole URL"),
            (["AGENT": "http:https://u:p@a/b"], "AGENT: expected a whole URL"),
            (["AGENT": "http:https://a/b"], "AGENT_HTTP_SECRET is not set"),
            (["AGENT": "http:https://a/b", "AGENT_HTTP_SECRET": "x"], "AGENT_HTTP_SECRET: expected whsec_"),
            (["AGENT": "http:https://a/b", "AGENT_HTTP_SECRET": "whsec_YWJj"], "AGENT_HTTP_SECRET: expected at least"),
            (["AGENT": "llm"], "AGENT=llm needs AGENT_MODEL_URL and AGENT_MODEL"),
            (["AGENT_KIND": "Weather"], "AGENT_KIND: no kind of Island is called Weather; there are Coach"),
            (["AGENT_TIMEOUT": "soon"], "AGENT_TIMEOUT"),
        ]
        for (environment, problem) in cases {
            let problems = make(environment).problems
            #expect(problems.contains { $0.hasPrefix(problem) }, "\(problem) not in \(problems)")
            #expect(!problems.joined().contains("YWJj"))
        }
    }

    private func make(_ environment: [String: String]) -> (agent: AnyAgent?, problems: [String]) {
        var settings = Settings(environment)
        let agent = AgentChoice.agent(&settings, log: Log(service: "test", level: .error, write: { _ in }))
        return (agent, settings.problems)
    }
}

private struct UnlistedAttributes: IslandAttributes {
    struct ContentState: Codable, Hashable, Sendable {}

    var userID: String
    var sessionID: String?
    static let example = ContentState()
    static let startAlert = DesiredIsland.Alert(title: "a", body: "b")
}
