import AMQP
import Crypto
import Runtime
import Shared

/// Has Linq show that a text was read, and typing while the agent takes its time.
///
/// A fast answer takes the read mark along (`ReplyRequest.marksRead`), so that only a slow one costs messages of its
/// own. They go the way of the replies, which keeps them in order, and nothing waits for them.
struct ChatHints: Sendable {
    /// What is to be shown, by the settings.
    struct Choice: Sendable, Equatable {
        var marksRead = false
        var showsTyping = false

        static let none = Choice()
    }

    /// A faster answer brings the read mark itself.
    static let readAfter = Duration.milliseconds(200)
    static let typingAfter = Duration.seconds(1)
    /// Linq shows typing for a minute and a half, and is told again before that.
    static let typingAgain = Duration.seconds(60)
    /// An agent that takes longer than this is hardly typing.
    static let mostTimes = 10
    /// A hint that comes later shows what is not true any more.
    static let life = Duration.seconds(15)

    typealias Publish = @Sendable (AMQPMessage, _ routingKey: String) -> Void

    let choice: Choice
    let partitions: Int
    let clock: WallClock
    /// Hands a message to the publisher and does not wait for what becomes of it.
    let publish: Publish

    private struct Shown {
        var isRead = false
        var isTyping = false
    }

    /// Has the agent take its turn, and shows meanwhile what there is to show.
    func during(
        _ event: CloudEvent<InboundEvent>, _ turn: () async throws -> Turn.Outcome
    ) async throws -> Turn.Outcome {
        guard choice != .none, let chat = Self.chat(of: event.data.content) else { return try await turn() }
        let shown = Locked(Shown())
        let result: Result<Turn.Outcome, any Error>
        do {
            // Cancelled and awaited where this scope ends.
            async let _ = show(in: chat, event.traceparent, shown)
            result = .success(try await turn())
        } catch {
            result = .failure(error)
        }
        let outcome: Turn.Outcome? = if case .success(let outcome) = result { outcome } else { nil }
        settle(shown.withLock { $0 }, in: chat, event.traceparent, outcome)
        return try result.get()
    }

    /// The chat in which something may be shown: iMessage's, and a group's only if it asked.
    static func chat(of content: InboundEvent.Content) -> Chat? {
        guard case .message(let message) = content, !message.isReconciled, message.service == .iMessage,
            !message.chat.isGroup || message.mentionsLine
        else { return nil }
        return message.chat
    }

    private func show(in chat: Chat, _ traceparent: String?, _ shown: Locked<Shown>) async {
        do {
            try await Task.sleep(for: Self.readAfter)
            if marksRead(chat) {
                shown.withLock { $0.isRead = true }
                send(.read, to: chat, traceparent)
            }
            guard choice.showsTyping else { return }
            try await Task.sleep(for: Self.typingAfter - Self.readAfter)
            for _ in 0..<Self.mostTimes {
                shown.withLock { $0.isTyping = true }
                send(.typing, to: chat, traceparent)
                try await Task.sleep(for: Self.typingAgain)
            }
        } catch {
            // Cancelled: the agent has answered.
        }
    }

    /// What no reply will do by itself.
    private func settle(_ shown: Shown, in chat: Chat, _ traceparent: String?, _ outcome: Turn.Outcome?) {
        let hasReply = outcome?.outgoing.contains { $0.type == ReplyRequest.type } ?? false
        guard !hasReply else { return }
        if shown.isTyping { send(.typingStopped, to: chat, traceparent) }
        if outcome != nil, !shown.isRead, marksRead(chat) { send(.read, to: chat, traceparent) }
    }

    /// A group has no read marks.
    private func marksRead(_ chat: Chat) -> Bool { choice.marksRead && !chat.isGroup }

    /// Whether what a person has written can be marked as read.
    static func marksRead(_ content: InboundEvent.Content) -> Bool { chat(of: content).map { !$0.isGroup } ?? false }

    private func send(_ kind: ChatHint.Kind, to chat: Chat, _ traceparent: String?) {
        let now = Timestamp(clock.now)
        let hint = ChatHint(chat: chat, kind: kind, expiresAt: now + Self.life)
        let id = RandomBytes.make(16).hexString
        let event = CloudEvent(
            id: id, source: "agent", type: ChatHint.type, time: now, traceparent: traceparent, data: hint)
        // Texts and a time can always be encoded; if not, there is nothing to show.
        guard let body = try? event.encoded() else { return }
        let message = AMQPMessage(
            id: id, type: ChatHint.type, timestamp: now.secondsSince1970,
            contentType: CloudEvent<ChatHint>.contentType, headers: traceparent.map { ["traceparent": $0] } ?? [:],
            body: body)
        publish(message, Partition.name(Partition.of(chat.id, among: partitions)))
    }
}
