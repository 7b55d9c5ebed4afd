import HTTP2
import Runtime
import Shared

/// The tries of one push: what APNs' answer to one means for the next.
struct PushTries: Sendable {
    enum Next: Sendable, Equatable {
        case finished(PushDelivery.Outcome)
        /// Try at once, at `target`.
        case again
        /// Try with a new JWT.
        case renewToken(reason: String)
        /// Try after a pause, of at least this length.
        case pause(atLeast: Duration)
    }

    private let push: StepWork.Push
    /// Whose APNs the next try goes to.
    private(set) var target: APNSEnvironment
    private var hasTriedOther = false
    private var hasDoubted = false

    /// - Parameter fallback: Tried first if it is not known where the token belongs.
    init(_ push: StepWork.Push, fallback: APNSEnvironment) {
        self.push = push
        target = push.environment ?? fallback
    }

    mutating func answered(_ answer: APNSAnswer, now: Timestamp) -> Next {
        switch answer.meaning {
        case .accepted: return .finished(.accepted(target))
        case .tokenDead(let at):
            // The app has vouched for the token since: then APNs may be behind, and is asked once more.
            if at < push.registeredAt, !hasDoubted {
                hasDoubted = true
                return .pause(atLeast: .zero)
            }
            return .finished(.tokenDead(at: at, reason: answer.reason))
        case .refused: return .finished(.refused(reason: "\(answer.status) \(answer.reason)"))
        case .wrongEnvironment:
            guard !hasTriedOther else { return .finished(.tokenDead(at: now, reason: answer.reason)) }
            hasTriedOther = true
            target = target.other
            return .again
        case .tokenExpired: return .renewToken(reason: answer.reason)
        case .denied: return .finished(.notNow(reason: answer.reason, pause: .seconds(30)))
        case .newConnection: return .pause(atLeast: .zero)
        case .later(let after): return .pause(atLeast: after ?? .zero)
        }
    }

    /// There was no answer; `wasSent` if APNs may have taken the push all the same.
    ///
    /// Updates and ends may go out twice, since their timestamps guard them; a start makes a card each time.
    mutating func failed(_ reason: String, wasSent: Bool) -> Next {
        wasSent && push.event == .start ? .finished(.unknown(reason: reason)) : .pause(atLeast: .zero)
    }
}
