import AMQP
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

/// What is shown in a chat while the agent takes its turn.
@Suite struct ChatHintsTests {
    private final class Published: Sendable {
        private let messages = Locked<[(message: AMQPMessage, routingKey: String)]>([])

        func add(_ message: AMQPMessage, _ routingKey: String) {
            messages.withLock { $0.append((message, routingKey)) }
        }

        var hints: [ChatHint] {
            get throws { try all.map { try CloudEvent<ChatHint>(decoding: $0.message.body).data } }
        }

        var kinds: [String] { get throws { try hints.map(\.kind.rawValue) } }

        var all: [(message: AMQPMessage, routingKey: String)] { messages.withLock { $0 } }
    }

    private struct Broken: Error {}

    private let published = Published()

    private func hints(marksRead: Bool = true, showsTyping: Bool = true) -> ChatHints {
        ChatHints(
            choice: ChatHints.Choice(marksRead: marksRead, showsTyping: showsTyping), partitions: 16, clock: .system,
            publish: published.add)
    }

    private func event(
        service: MessageService = .iMessage, isGroup: Bool = false, mentionsLine: Bool = false,
        isReconciled: Bool = false
    ) -> CloudEvent<InboundEvent> {
        let message = InboundMessage(
            messageID: "m", chat: Chat(id: "chat-1", isGroup: isGroup), sender: "+12025559876", service: service,
            parts: [MessagePart(type: "text", value: "hi")], mentionsLine: mentionsLine, isReconciled: isReconciled,
            receivedAt: Timestamp(Date()))
        let data = InboundEvent(handle: "+12025559876", content: .message(message))
        return CloudEvent(
            id: "e", source: "linq", type: data.type, time: Timestamp(Date()), traceparent: "00-t-s-01", data: data)
    }

    private func outcome(replies: Int) throws -> Turn.Outcome {
        let reply = ReplyRequest(
            chat: Chat(id: "chat-1", isGroup: false), to: "+12025559876", idempotencyKey: "k",
            parts: [MessagePart(type: "text", value: "hello")], receivedAt: nil, expiresAt: Timestamp(Date()))
        let outgoing = try Outgoing(
            reply, type: ReplyRequest.type, id: "k", to: .replies, key: "chat-1", partitions: 16,
            time: Timestamp(Date()), traceparent: nil)
        return Turn.Outcome(
            state: UserState(handle: "+12025559876"), outgoing: Array(repeating: outgoing, count: replies))
    }

    @Test func `a fast answer costs no message of its own, and no answer one that marks as read`() async throws {
        _ = try await hints().during(event()) { try outcome(replies: 1) }
        #expect(try published.kinds == [])
        _ = try await hints().during(event()) { try outcome(replies: 0) }
        #expect(try published.kinds == ["read"])
    }

    @Test func `a slow answer shows read and then typing, which the reply ends`() async throws {
        _ = try await hints().during(event()) {
            try await eventually("typing shows") { try published.kinds == ["read", "typing"] }
            return try outcome(replies: 1)
        }
        #expect(try published.kinds == ["read", "typing"])
        let hint = try #require(try published.hints.first)
        #expect(hint.chat == Chat(id: "chat-1", isGroup: false))
        #expect(hint.expiresAt > Timestamp(Date()))
        // The way of the chat's replies, so that they stay in order.
        let routingKey = Partition.name(Partition.of("chat-1", among: 16))
        #expect(published.all.allSatisfy { $0.routingKey == routingKey && $0.message.headers["traceparent"] != nil })
    }

    @Test func `typing that no reply ends is taken back, also if the agent fails`() async throws {
        _ = try await hints().during(event()) {
            try await eventually("typing shows") { try published.kinds.last == "typing" }
            return try outcome(replies: 0)
        }
        #expect(try published.kinds == ["read", "typing", "typingStopped"])
        await #expect(throws: Broken.self) {
            _ = try await hints().during(event()) {
                try await eventually("typing shows") { try published.kinds.last == "typing" }
                throw Broken()
            }
        }
        #expect(try published.kinds.last == "typingStopped")
    }

    @Test func `each can be turned off`() async throws {
        _ = try await hints(marksRead: false).during(event()) {
            try await eventually("typing shows") { try published.kinds == ["typing"] }
            return try outcome(replies: 1)
        }
        _ = try await hints(showsTyping: false).during(event()) {
            try await eventually("it is read") { try published.kinds == ["typing", "read"] }
            return try outcome(replies: 0)
        }
        _ = try await hints(marksRead: false, showsTyping: false).during(event()) { try outcome(replies: 0) }
        #expect(try published.kinds == ["typing", "read"])
    }

    @Test
    func `nothing shows by SMS, for what comes late, and in a group that does not ask; a group has no read marks`()
        async throws
    {
        for other in [event(service: .sms), event(isReconciled: true), event(isGroup: true)] {
            _ = try await hints().during(other) { try outcome(replies: 0) }
        }
        #expect(try published.kinds == [])
        _ = try await hints().during(event(isGroup: true, mentionsLine: true)) {
            try await eventually("typing shows") { try published.kinds == ["typing"] }
            return try outcome(replies: 1)
        }
        #expect(try published.kinds == ["typing"])
    }
}
