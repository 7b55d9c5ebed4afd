import Foundation
import HTTPClient
import HTTPServer
import Runtime
import Shared
import TestSupport
import Testing

@testable import LinqSender

/// What Linq is told beside the messages, against a server that answers when the test lets it.
@Suite struct HintSenderTests {
    private final class Linq: Sendable {
        private let state = Locked<(asked: [String], open: [HTTPResponder], isHolding: Bool)>(([], [], false))

        var asked: [String] { state.withLock { $0.asked } }

        func take(_ request: HTTPRequest, _ responder: HTTPResponder) {
            let isHeld = state.withLock { state in
                let auth = request.header("authorization") ?? ""
                state.asked.append("\(request.method) \(request.path) \(auth)")
                if state.isHolding { state.open.append(responder) }
                return state.isHolding
            }
            if !isHeld { responder.respond(HTTPResponse(status: 204, headers: [])) }
        }

        func hold() { state.withLock { $0.isHolding = true } }

        func letGo() {
            let open = state.withLock { state in
                defer { (state.open, state.isHolding) = ([], false) }
                return state.open
            }
            for responder in open { responder.respond(HTTPResponse(status: 204, headers: [])) }
        }
    }

    private let metrics = Metrics()
    private let clock = ManualClock(Date(timeIntervalSince1970: 1_770_319_873))

    private func with(_ body: (HintSender, Linq) async throws -> Void) async throws {
        let quiet = Log(service: "test", level: .error, write: { _ in })
        let linq = Linq()
        let server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "linq", log: quiet, metrics: Metrics(),
            handler: linq.take)
        defer { server.close() }
        let client = HTTPClient(userAgent: "test", log: quiet)
        let request = LinqRequest(
            baseURL: "http://127.0.0.1:\(server.port)/api", token: Secret("t0k"), replyVia: .messages)
        let sender = HintSender(
            client: client, request: request, clock: clock.wallClock, metrics: metrics,
            timeout: .seconds(60))
        do { try await body(sender, linq) } catch {
            linq.letGo()
            await client.close()
            throw error
        }
        linq.letGo()
        await client.close()
    }

    private func hint(_ kind: ChatHint.Kind, chat: String = "c-1", in seconds: Double = 10) -> ChatHint {
        ChatHint(
            chat: Chat(id: chat, isGroup: false), kind: kind,
            expiresAt: Timestamp(clock.now.addingTimeInterval(seconds)))
    }

    private func count(_ kind: String, _ outcome: String) -> Bool {
        metrics.render().contains("isthmus_linq_hints_total{kind=\"\(kind)\",outcome=\"\(outcome)\"}")
    }

    @Test func `read and typing are what Linq's interface has them`() async throws {
        try await with { sender, linq in
            let calls: [(ChatHint.Kind, String)] = [
                (.read, "POST /api/v3/chats/c-1/read Bearer t0k"),
                (.typing, "POST /api/v3/chats/c-1/typing Bearer t0k"),
                (.typingStopped, "DELETE /api/v3/chats/c-1/typing Bearer t0k"),
            ]
            for (kind, call) in calls {
                sender.show(hint(kind), isLinqDown: false)
                try await eventually("\(kind) is told") { linq.asked.last == call }
                try await eventually("it is counted") { count(kind.rawValue, "accepted") }
            }
            #expect(linq.asked.count == 3)
        }
    }

    @Test func `what is late, unknown or in vain is left out`() async throws {
        try await with { sender, linq in
            sender.show(hint(.typing, in: -1), isLinqDown: false)
            sender.show(hint(.init(rawValue: "confetti")), isLinqDown: false)
            sender.show(hint(.read), isLinqDown: true)
            #expect(count("typing", "late"))
            #expect(count("other", "left_out"))
            #expect(count("read", "left_out"))
            sender.show(hint(.read), isLinqDown: false)
            try await eventually("the last one is told") { !linq.asked.isEmpty }
            #expect(linq.asked == ["POST /api/v3/chats/c-1/read Bearer t0k"])
        }
    }

    @Test func `typing that a message may have overtaken is taken back, and no other`() async throws {
        try await with { sender, linq in
            linq.hold()
            sender.show(hint(.typing), isLinqDown: false)
            sender.show(hint(.typing, chat: "c-2"), isLinqDown: false)
            try await eventually("both are on their way") { linq.asked.count == 2 }
            sender.messageGoes(to: "c-1")
            linq.letGo()
            try await eventually("one is taken back") {
                linq.asked.contains { $0.hasPrefix("DELETE") }
            }
            try await eventually("both have ended") { count("typingStopped", "accepted") }
            #expect(linq.asked.filter { $0.hasPrefix("DELETE") } == ["DELETE /api/v3/chats/c-1/typing Bearer t0k"])
            // Typing that has arrived ends with the message.
            sender.messageGoes(to: "c-2")
            sender.show(hint(.read), isLinqDown: false)
            try await eventually("the next one is told") { linq.asked.count == 4 }
            #expect(linq.asked.last?.hasPrefix("POST /api/v3/chats/c-1/read") == true)
        }
    }

    @Test func `while Linq does not answer, no more than a few wait`() async throws {
        try await with { sender, linq in
            linq.hold()
            for number in 0..<100 { sender.show(hint(.typing, chat: "c-\(number)"), isLinqDown: false) }
            #expect(count("typing", "left_out"))
            try await eventually("the first ones are told") {
                linq.asked.count == HintSender.most
            }
            linq.letGo()
            try await eventually("there is room again") {
                sender.show(hint(.read), isLinqDown: false)
                return linq.asked.contains { $0.contains("/read") }
            }
        }
    }
}
