import Runtime

/// Keeps to Linq's limit of 30 messages in 60 seconds between a line and a recipient.
final class PairPacing: Sendable {
    private static let count = 30
    private static let window = 60.0

    /// Pairs that are kept before it is looked which of them are silent.
    private static let leastKept = 10_000

    private struct State {
        /// When the last minute's messages to each pair were sent.
        var sent: [String: [Double]] = [:]
        var mostKept = PairPacing.leastKept
    }

    private let state = Locked(State())

    /// How long the next message to `pair` has to wait at `now`, monotonic seconds; when nothing, it counts as sent.
    ///
    /// What turns out not to have been sent gives its place back.
    func delay(_ pair: String, at now: Double) -> Duration? {
        state.withLock { state in
            if state.sent.count > state.mostKept {
                // Forgets pairs that are silent, so that the table is about as large as one minute's traffic.
                state.sent = state.sent.filter { now - ($0.value.last ?? 0) < Self.window }
                // Not for each message, when there are many pairs that talk.
                state.mostKept = max(Self.leastKept, 2 * state.sent.count)
            }
            var times = (state.sent[pair] ?? []).filter { now - $0 < Self.window }
            defer { state.sent[pair] = times }
            guard times.count >= Self.count else {
                times.append(now)
                return nil
            }
            return .milliseconds(Int((Self.window - (now - times[0])) * 1000) + 1)
        }
    }

    /// Takes back the message to `pair` that was counted at `time`: Linq has not got it.
    func giveBack(_ pair: String, at time: Double) {
        state.withLock { state in
            guard let index = state.sent[pair]?.lastIndex(of: time) else { return }
            state.sent[pair]?.remove(at: index)
        }
    }
}
