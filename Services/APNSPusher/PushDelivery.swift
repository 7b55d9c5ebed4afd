import APNSClient
import HTTP2
import Runtime
import Shared
import Stage

/// Brings one push to APNs: tries again where that is safe, and says what came of it.
struct PushDelivery: Sendable {
    enum Outcome: Sendable, Equatable {
        case accepted(APNSEnvironment)
        /// APNs has said that it did not take it; the token is dead or belongs nowhere.
        case tokenDead(at: Timestamp, reason: String)
        /// APNs has said that it did not take it, and never will.
        case refused(reason: String)
        /// A newer state has made the push void.
        case superseded
        /// Bytes were sent and no answer came: it may or may not have been taken.
        case unknown(reason: String)
        /// It was not taken, and the whole service should pause.
        case notNow(reason: String, pause: Duration)
    }

    /// How long one push is tried before the partition goes back to the queue.
    static let patience = 60.0
    /// How long after it asked for its leave a start may be sent, in seconds: a try takes up to 15 s more, and the
    /// registry may give leave anew after `Card.tokenGrace`.
    static let startPatience = 40.0

    let gateway: APNSGateway
    let providerToken: ProviderToken
    let clock: WallClock
    let log: Log
    let retried: Counter

    /// - Parameters:
    ///   - fallback: The environment of tokens of which it is not known.
    ///   - deadline: No try begins later, by the clock that never jumps.
    ///   - isSuperseded: Asked between two tries.
    func send(
        _ push: StepWork.Push, fallback: APNSEnvironment, until deadline: Double, stop: StopSignal,
        isSuperseded: () -> Bool
    ) async -> Outcome {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(30))
        var tries = PushTries(push, fallback: fallback)
        var failures = 0
        while monotonicSeconds() < deadline {
            let pause: Duration
            let jwt: String
            do { jwt = try providerToken.current() } catch {
                log.error("no JWT for APNs", ["error": "\(error)"])
                return .notNow(reason: "no JWT", pause: .seconds(30))
            }
            switch await attempt(push, &tries, as: jwt) {
            case .finished(let outcome): return outcome
            case .again: continue
            case .renewToken(let reason):
                guard providerToken.expire(jwt) else {
                    log.error("APNs calls a young JWT expired: this machine's clock is wrong")
                    return .notNow(reason: reason, pause: .seconds(30))
                }
                pause = .zero
            case .pause(let least): pause = least
            }
            failures += 1
            retried.increment()
            guard !isSuperseded() else { return .superseded }
            guard await stop.sleep(for: max(pause, backoff.delay(after: failures))) else {
                return .notNow(reason: "stopping", pause: .zero)
            }
        }
        return .notNow(reason: "APNs does not take it", pause: .seconds(10))
    }

    private func attempt(_ push: StepWork.Push, _ tries: inout PushTries, as jwt: String) async -> PushTries.Next {
        do {
            let answer = try await gateway.send(push.request, to: tries.target, as: jwt)
            if answer.reason == APNSAnswer.tooManyTokens { providerToken.keep() }
            return tries.answered(answer, now: Timestamp(clock.now))
        } catch {
            log.debug("push not answered", ["error": "\(error)"])
            return tries.failed("\(error)", wasSent: error.outcome == .unknown)
        }
    }
}
