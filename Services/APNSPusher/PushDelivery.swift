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
    ///   - environment: Where the token belongs; `nil` if that is not known, and then `fallback` is tried first.
    ///   - repeatsUnknown: Whether a push of which nobody knows what came may be sent again: true for update and end.
    func send(
        _ push: PushRequest, environment: APNSEnvironment?, fallback: APNSEnvironment, repeatsUnknown: Bool,
        stop: StopSignal, isSuperseded: () -> Bool
    ) async -> Outcome {
        let began = monotonicSeconds()
        let backoff = Backoff(base: .seconds(1), cap: .seconds(30))
        var target = environment ?? fallback
        var hasTriedOther = false
        var failures = 0
        while true {
            let pause: Duration
            do {
                let answer = try await gateway.send(push, to: target)
                switch answer.meaning {
                case .accepted: return .accepted(target)
                case .tokenDead(let at): return .tokenDead(at: at, reason: answer.reason)
                case .refused: return .refused(reason: "\(answer.status) \(answer.reason)")
                case .wrongEnvironment:
                    guard !hasTriedOther else {
                        return .tokenDead(at: Timestamp(clock.now), reason: answer.reason)
                    }
                    hasTriedOther = true
                    target = target.other
                    continue
                case .tokenExpired:
                    if !providerToken.expire() {
                        log.error("APNs calls a young JWT expired: this machine's clock is wrong")
                        return .notNow(reason: answer.reason, pause: .seconds(30))
                    }
                    pause = .zero
                case .denied:
                    log.error(
                        "APNs denies access: are APNS_TEAM_ID, APNS_KEY_ID and the key right?",
                        ["reason": answer.reason])
                    return .notNow(reason: answer.reason, pause: .seconds(30))
                case .newConnection: pause = .zero
                case .later(let after): pause = after ?? .zero
                }
            } catch let error as HTTP2Error where error.outcome == .unknown && !repeatsUnknown {
                return .unknown(reason: "\(error)")
            } catch {
                log.debug("push not answered", ["error": "\(error)"])
                pause = .zero
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
}
