import HTTPClient
import Runtime
import Shared

/// Shows in Linq's chats that a text was read and that an answer is on its way.
///
/// Best effort: no reply waits for it, nothing is tried again, and what would be too much at once is left out. Typing
/// that a message may have overtaken is taken back, or it would show for a minute and a half after the answer.
final class HintSender: Sendable {
    /// Requests at once; hints beyond are left out.
    static let most = 16

    private struct State {
        var inFlight = 0
        /// Chats whose typing is on its way to Linq, and whether a message has been sent meanwhile.
        var typing: [String: Bool] = [:]
    }

    private let client: HTTPClient
    private let request: LinqRequest
    private let clock: WallClock
    private let metrics: Metrics
    private let timeout: Duration
    private let state = Locked(State())

    init(
        client: HTTPClient, request: LinqRequest, clock: WallClock, metrics: Metrics, timeout: Duration = .seconds(5)
    ) {
        self.client = client
        self.request = request
        self.clock = clock
        self.metrics = metrics
        self.timeout = timeout
    }

    /// Puts a hint on its way, if it is in time and nothing speaks against it; returns at once.
    func show(_ hint: ChatHint, isLinqDown: Bool) {
        guard Timestamp(clock.now) < hint.expiresAt else { return count(hint.kind, "late") }
        guard !isLinqDown, let message = request.make(hint) else { return count(hint.kind, "left_out") }
        let chat = hint.chat.id
        let isTaken = state.withLock { state in
            if hint.kind == .typingStopped, state.typing[chat] != nil {
                state.typing[chat] = true
                return false
            }
            guard state.inFlight < Self.most, hint.kind != .typing || state.typing[chat] == nil else { return false }
            state.inFlight += 1
            if hint.kind == .typing { state.typing[chat] = false }
            return true
        }
        guard isTaken else { return count(hint.kind, "left_out") }
        // Owned by `state.inFlight`, and ended by its own deadline or by the client's end.
        Task { await self.send(message, hint) }
    }

    /// A message goes to the chat: typing that arrives after it would stay.
    func messageGoes(to chat: String) {
        state.withLock { state in
            if state.typing[chat] != nil { state.typing[chat] = true }
        }
    }

    private func send(_ message: HTTPClientRequest, _ hint: ChatHint) async {
        count(hint.kind, await outcome(of: message))
        let isOvertaken = state.withLock { state in
            state.inFlight -= 1
            return hint.kind == .typing && state.typing.removeValue(forKey: hint.chat.id) == true
        }
        let stop = ChatHint(chat: hint.chat, kind: .typingStopped, expiresAt: hint.expiresAt)
        guard isOvertaken, let message = request.make(stop) else { return }
        count(.typingStopped, await outcome(of: message))
    }

    private func outcome(of message: HTTPClientRequest) async -> String {
        do {
            return (200..<300).contains(try await client.send(message, within: timeout).status)
                ? "accepted" : "refused"
        } catch {
            // Nothing depends on it, and the next text brings the next hint.
            return "failed"
        }
    }

    private func count(_ kind: ChatHint.Kind, _ outcome: String) {
        let isKnown = [.read, .typing, .typingStopped].contains(kind)
        metrics.counter(
            "isthmus_linq_hints_total", "Read marks and typing for Linq, by outcome.",
            ["kind": isKnown ? kind.rawValue : "other", "outcome": outcome]
        ).increment()
    }
}
