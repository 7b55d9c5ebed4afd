import Foundation
import Shared

@testable import Agent

/// A user texting with the coach, on a clock that the test moves.
struct CoachConversation {
    var model = CoachModel()
    var now: Date
    var zone: TimeZone?
    private var count = 0
    private let agent = CoachAgent()

    init(at time: String = "2026-02-05T12:00:00Z", zone: String? = nil) {
        now = Timestamp(time)?.date ?? .distantPast
        self.zone = zone.flatMap(TimeZone.init(identifier:))
    }

    var state: CoachAttributes.ContentState { model.contentState }

    mutating func move(to time: String) { now = Timestamp(time)?.date ?? .distantPast }

    mutating func moveDays(_ days: Int) { now += Double(days) * 86400 }

    /// Sends a text and gives back what the coach says.
    @discardableResult
    mutating func say(_ text: String, id: String? = nil) async throws -> String {
        try await send(message(text, id: id)).replies.map(\.text).joined(separator: "\n")
    }

    mutating func message(
        _ text: String, id: String? = nil, isGroup: Bool = false, mentionsLine: Bool = false, hasPhoto: Bool = false,
        isReconciled: Bool = false, sentAt: Date? = nil
    ) -> AgentEvent {
        count += 1
        let photo = hasPhoto ? [MessagePart(type: "media", url: "https://example.com/a.jpg")] : []
        return .message(
            InboundMessage(
                messageID: id ?? "m\(count)", chat: Chat(id: "c", isGroup: isGroup), sender: "+12025550123",
                service: .iMessage, parts: (text.isEmpty ? [] : [MessagePart(type: "text", value: text)]) + photo,
                mentionsLine: mentionsLine, isReconciled: isReconciled, sentAt: sentAt.map(Timestamp.init),
                receivedAt: Timestamp(now)))
    }

    func edit(_ id: String, to text: String) -> AgentEvent {
        .edit(
            InboundEdit(
                messageID: id, chat: Chat(id: "c", isGroup: false), sender: "+12025550123", partIndex: 0, text: text,
                receivedAt: Timestamp(now)))
    }

    mutating func send(_ event: AgentEvent, isNew: Bool = false) async throws -> CoachAgent.Response {
        let context = AgentContext(
            eventID: "e\(count)", now: now, user: AgentUser(handle: "+12025550123", timeZone: zone),
            session: AgentSession(id: "s", isNew: isNew, startedAt: now))
        return try await agent.respond(to: event, model: &model, context: context)
    }
}
