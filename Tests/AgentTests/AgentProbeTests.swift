import HTTPClient
import HTTPServer
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

/// `agent --check`, as far as it looks for an agent elsewhere.
@Suite struct AgentProbeTests {
    private let quiet = Log(service: "test", level: .error, write: { _ in })

    @Test(arguments: [200, 204, 401, 404, 405, 501])
    func `an endpoint that answers anything is there, and was asked no event`(status: Int) async throws {
        try await StandIn.with([.status(status)]) { standIn, endpoint in
            #expect(await AgentProbe.endpoint(endpoint.url).finding(quiet) == nil)
            #expect(standIn.requests.map(\.method) == ["OPTIONS"])
            #expect(standIn.requests.filter { !$0.body.isEmpty }.isEmpty)
        }
    }

    @Test func `an endpoint that is down, or is none, is named with the reason`() async throws {
        try await StandIn.with([.status(502)]) { _, endpoint in
            let finding = await AgentProbe.endpoint(endpoint.url).finding(quiet)
            #expect(finding?.contains("answered 502") == true)
        }
        try await StandIn.with([.hangUp]) { _, endpoint in
            let finding = await AgentProbe.endpoint(endpoint.url).finding(quiet)
            #expect(finding?.hasPrefix("AGENT: no answer from \(endpoint.url)") == true)
            // TLS where there is none.
            let secure = endpoint.url.replacing("http://", with: "https://")
            #expect(await AgentProbe.endpoint(secure).finding(quiet)?.contains("no answer") == true)
        }
        let nobody = await AgentProbe.endpoint("http://127.0.0.1:1/agent").finding(quiet)
        #expect(nobody?.hasPrefix("AGENT: no answer from http://127.0.0.1:1/agent") == true)
    }

    @Test func `a model's API is asked for its list, with the key`() async throws {
        let list = #"{"object":"list","data":[{"id":"small"},{"id":"large"}]}"#
        let cases: [(StandIn.Answer, String?)] = [
            (.json(list), nil), (.json("{}"), nil), (.status(404), nil),
            (.status(401), "AGENT_MODEL_KEY is not accepted (401)"),
            (.json(list.replacing("large", with: "huge")), "AGENT_MODEL: large is not among the models that "),
            (.status(500), "AGENT_MODEL_URL: "),
        ]
        for (answer, expected) in cases {
            try await StandIn.with([answer]) { standIn, endpoint in
                let url = endpoint.url.replacing("/agent", with: "/v1/chat/completions")
                let finding = await AgentProbe.model(url, model: "large", key: Secret("k")).finding(quiet)
                if let expected {
                    #expect(finding?.hasPrefix(expected) == true, "\(finding ?? "nothing")")
                } else {
                    #expect(finding == nil)
                }
                #expect(standIn.requests.map { "\($0.method) \($0.path)" } == ["GET /v1/models"])
                #expect(standIn.requests.first?.header("authorization") == "Bearer k")
            }
        }
    }
}
