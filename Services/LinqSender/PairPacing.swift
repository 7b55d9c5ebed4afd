import Runtime

/// Keeps to Linq's limit of 30 messages in 60 seconds between a line and a recipient.
final class PairPacing: Sendable {
    private static let count = 30
    private static let window = 60.0

    private let sent = Locked<[String: [Double]]>([:])

    /// How long the next message to `pair` has to wait at `now`, monotonic seconds; when nothing, it counts as sent.
    ///
    /// What turns out not to have been sent gives its place back.
    func delay(_ pair: String, at now: Double) -> Duration? {
        sent.withLock { sent in
            // Forgets pairs that are silent, so that the table is as large as one minute's traffic.
            if sent.count > 10_000 { sent = sent.filter { now - ($0.value.last ?? 0) < Self.window } }
            var times = (sent[pair] ?? []).filter { now - $0 < Self.window }
            defer { sent[pair] = times }
            guard times.count >= Self.count else {
                times.append(now)
                return nil
            }
            return .milliseconds(Int((Self.window - (now - times[0])) * 1000) + 1)
        }
    }
    /// Takes back the message to `pair` that was counted at `time`: Linq has not got it.
    func giveBack(_ pair: String, at time: Double) {
        sent.withLock { sent in
            guard let index = sent[pair]?.lastIndex(of: time) else { return }
            sent[pair]?.remove(at: index)
        }
    }
}
