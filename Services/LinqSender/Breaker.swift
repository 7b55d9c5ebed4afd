import Runtime

/// Notices that nothing gets through to Linq, for anybody, and says so before more is tried in vain.
///
/// After a pause one request goes ahead as a probe; the others wait for what becomes of it.
final class Breaker: Sendable {
    enum Admission: Sendable, Equatable {
        case go
        /// A probe is on its way.
        case wait
        /// Nothing gets through: not before this has passed.
        case pause(Duration)
    }

    /// Failures one after another, across all chats, after which it opens.
    private static let mostFailures = 20
    private static let firstPause = 1.0
    private static let longestPause = 60.0

    private struct State {
        var failures = 0
        /// Pauses one after another.
        var pauses = 0
        /// Monotonic seconds; `nil` while requests get through.
        var openUntil: Double?
        var isProbing = false
    }

    private let state = Locked(State())

    /// Asked before each request; after `.go` one of the two below has to follow.
    func admission(at now: Double) -> Admission {
        state.withLock { state in
            guard let openUntil = state.openUntil else { return .go }
            guard now >= openUntil else { return .pause(.milliseconds(Int((openUntil - now) * 1000) + 1)) }
            guard !state.isProbing else { return .wait }
            state.isProbing = true
            return .go
        }
    }

    /// Whether nothing gets through at the moment: then there is no point in what nobody waits for.
    var isOpen: Bool { state.withLock { $0.openUntil != nil } }

    /// Linq has answered.
    func succeeded() { state.withLock { $0 = State() } }

    /// No answer, or one that says that Linq itself is in trouble.
    ///
    /// Returns how long the pause is, if this has begun one.
    func failed(at now: Double) -> Double? {
        state.withLock { state in
            state.failures += 1
            // What was sent before it opened says nothing new.
            let isNews = state.openUntil == nil ? state.failures >= Self.mostFailures : state.isProbing
            guard isNews else { return nil }
            let pause = min(Self.firstPause * Double(1 << min(state.pauses, 10)), Self.longestPause)
            state.pauses += 1
            state.isProbing = false
            state.openUntil = now + pause
            return pause
        }
    }
}
