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
    private static let patience = 60.0

    let gateway: APNSGateway
    let providerToken: ProviderToken
    let clock: WallClock
    let log: Log
    let retried: Counter

    /// - Parameters:
    ///   - fallback: The environment of tokens of which it is not known.
    ///   - isSuperseded: Asked between two tries.
    func send(
        _ push: StepWork.Push, fallback: APNSEnvironment, stop: StopSignal, isSuperseded: () -> Bool
    ) async -> Outcome {
        let began = monotonicSeconds()
        let backoff = Backoff(base: .seconds(1), cap: .seconds(30))
        var tries = PushTries(push, fallback: fallback)
        var failures = 0
        while true {
            let pause: Duration
            switch await attempt(push, &tries) {
            case .finished(let outcome): return outcome
            case .again: continue
            case .renewToken(let reason):
                guard providerToken.expire() else {
                    log.error("APNs calls a young JWT expired: this machine's clock is wrong")
                    return .notNow(reason: reason, pause: .seconds(30))
                }
                pause = .zero
            case .pause(let least): pause = least
            }
            failures += 1
            retried.increment()
            guard !isSuperseded() else { return .superseded }
            guard monotonicSeconds() - began < Self.patience else {
                return .notNow(reason: "APNs does not take it", pause: .seconds(10))
            }
            guard await stop.sleep(for: max(pause, backoff.delay(after: failures))) else {
                return .notNow(reason: "stopping", pause: .zero)
            }
        }
    }

    private func attempt(_ push: StepWork.Push, _ tries: inout PushTries) async -> PushTries.Next {
        do {
            let answer = try await gateway.send(push.request, to: tries.target)
            if answer.meaning == .denied {
                log.error(
                    "APNs denies access: are APNS_TEAM_ID, APNS_KEY_ID and the key right?", ["reason": answer.reason])
            }
            return tries.answered(answer, now: Timestamp(clock.now))
        } catch let error as HTTP2Error {
            log.debug("push not answered", ["error": "\(error)"])
            return tries.failed("\(error)", wasSent: error.outcome == .unknown)
        } catch {
            log.warning("push not sent", ["error": "\(error)"])
            return tries.failed("\(error)", wasSent: false)
        }
    }
}
