import Foundation
import HTTPClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

/// The sample in Python, as a team would start it, behind the agent that talks to it.
struct HTTPAgentSampleTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwJ7x9mK0p1q8="

    @Test func `the sample in Python is understood and understands`() async throws {
        try await TemporaryDirectory.with { folder in
            let port = try freePort()
            let sample = try start(in: folder, port: port)
            defer { sample.kill() }
            let log = Log(service: "test", level: .error, write: { _ in })
            let client = HTTPClient(userAgent: "isthmus-test", log: log)
            let agent = try agent(client, port: port)
            try await eventually("the sample listens") {
                _ = try await agent.respond(
                    to: .sessionEnding, model: nil, context: Events.context(eventID: "first"))
                return true
            }
            let meal = Events.message("chicken bowl, ~600 cal")
            for _ in 1...2 {
                // The same event twice: the sample counts it once.
                let outcome = try await agent.respond(to: meal, model: nil, context: Events.context())
                #expect(outcome.refusal == nil)
                #expect(
                    outcome.response.replies == [AgentReply("Logged Chicken bowl: 600 of 2000 cal today.")])
                #expect(
                    outcome.response.island
                        == .show(
                            Array(#"{"calories":600,"goal":2000,"lastMeal":"Chicken bowl · 600 cal","streak":1}"#.utf8))
                )
            }
            await client.close()
        }
    }

    private func start(in folder: String, port: UInt16) throws -> LocalProcess {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try LocalProcess.start(
            "/usr/bin/python3",
            ["-B", root.path + "/Examples/agent-python/agent.py", "--port", "\(port)", "--database", folder + "/db"],
            environment: ["AGENT_HTTP_SECRET": Self.secret, "PATH": "/usr/bin:/bin"], logFile: folder + "/log")
    }

    private func agent(_ client: HTTPClient, port: UInt16) throws -> AnyAgent {
        let endpoint = AgentEndpoint(
            url: "http://127.0.0.1:\(port)/events", client: client, timeout: .seconds(10), tries: 1)
        return HTTPAgent(
            endpoint: endpoint, signer: try WebhookSigner([Self.secret]), kind: try .named("CoachAttributes"),
            clock: .system
        ).agent
    }
}
