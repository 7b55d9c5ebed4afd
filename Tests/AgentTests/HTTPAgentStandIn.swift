import Foundation
import HTTPClient
import HTTPServer
import Runtime
import Shared

@testable import Agent

/// An endpoint that answers what a test tells it to, in that order, and keeps what it was asked.
final class StandIn: Sendable {
    enum Answer: Sendable {
        case json(String)
        case status(Int, headers: [String: String] = [:])
        case text(String)
        /// Nothing, until the client has had enough.
        case silence
        /// The connection is closed.
        case hangUp
    }

    private let asked = Locked<[HTTPRequest]>([])
    private let silenced = Locked<[HTTPResponder]>([])

    var requests: [HTTPRequest] { asked.withLock { $0 } }

    var bodies: [AnyJSON] { requests.compactMap { AnyJSON(parsing: $0.body) } }

    /// Runs `body` with an endpoint at a stand-in; the last answer is given again and again.
    static func with<R>(
        _ answers: [Answer], timeout: Duration = .seconds(10),
        _ body: (StandIn, AgentEndpoint) async throws -> R
    ) async throws -> R {
        let quiet = Log(service: "test", level: .error, write: { _ in })
        let standIn = StandIn()
        let server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "stand-in", log: quiet, metrics: Metrics()
        ) { request, responder in
            let index = standIn.asked.withLock { asked in
                asked.append(request)
                return asked.count - 1
            }
            standIn.give(answers[min(index, answers.count - 1)], responder)
        }
        defer {
            standIn.silenced.withLock { $0 = [] }
            server.close()
        }
        let client = HTTPClient(userAgent: "isthmus-test", log: quiet)
        let endpoint = AgentEndpoint(
            url: "http://127.0.0.1:\(server.port)/agent", client: client, timeout: timeout,
            backoff: Backoff(base: .milliseconds(2), cap: .milliseconds(5)))
        do {
            let result = try await body(standIn, endpoint)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    private func give(_ answer: Answer, _ responder: HTTPResponder) {
        switch answer {
        case .json(let text): responder.respond(.json(200, Array(text.utf8)))
        case .status(let status, let headers):
            responder.respond(HTTPResponse(status: status, headers: headers.map { ($0.key, $0.value) }))
        case .text(let text): responder.respond(.text(200, text))
        case .silence: silenced.withLock { $0.append(responder) }
        case .hangUp: responder.abort()
        }
    }
}

/// Events of one user, as agents get them.
enum Events {
    static let now = Timestamp("2026-02-05T19:31:13.736Z") ?? Timestamp(millisecondsSince1970: 0)

    static func message(
        _ text: String, isGroup: Bool = false, mentionsLine: Bool = false, isReconciled: Bool = false
    ) -> AgentEvent {
        .message(
            InboundMessage(
                messageID: "m1", chat: Chat(id: "c1", isGroup: isGroup), sender: "+12025559876", service: .iMessage,
                parts: [MessagePart(type: "text", value: text)], mentionsLine: mentionsLine,
                isReconciled: isReconciled, receivedAt: now))
    }

    static func custom(_ name: String, _ payload: String) -> AgentEvent {
        .custom(CustomEvent(name: name, payload: payload, receivedAt: now))
    }

    static func context(showing state: String? = nil, eventID: String = "evt-1", after seconds: Double = 0)
        -> AgentContext
    {
        AgentContext(
            eventID: eventID, now: now.date + seconds, user: AgentUser(handle: "+12025559876", id: "user-42"),
            session: AgentSession(id: "s1", isNew: false, startedAt: now.date),
            contentState: state.map { Array($0.utf8) })
    }
}
