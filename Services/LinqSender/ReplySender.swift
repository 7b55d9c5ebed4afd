import AMQP
import Foundation
import HTTPClient
import Runtime
import Shared
import Stage

/// A reply's way to Linq: paced, sent under its one key, tried again in place, and parked when that takes too long.
///
/// While one reply waits, the later ones of its chat wait behind it; all other chats go on.
final class ReplySender: Sendable {
    /// Linq's own advice for its API's clients is 60 s; a reply that takes so long is tried again under its key.
    private static let requestTimeout = Duration.seconds(30)
    /// How long a reply is tried in place before its partition goes back to the queue.
    private static let patience = 60.0
    /// How long a partition rests when nothing gets through: at first, and at the most.
    private static let rest = (first: Duration.seconds(10), longest: Duration.seconds(60))
    /// How long a reply that a person has put back may still be tried.
    private static let replayLife = Duration.seconds(15 * 60)
    /// How long a pause may be to be waited for in place; for a longer one the partition goes back to the queue.
    private static let longestWait = Duration.seconds(10)
    /// How often it is looked whether a probe has got through.
    private static let probeInterval = Duration.milliseconds(250)

    private let client: HTTPClient
    private let request: LinqRequest
    private let clock: WallClock
    private let log: Log
    private let metrics: Metrics
    private let hints: HintSender
    private let pacing = PairPacing()
    private let breaker = Breaker()
    private let backoff = Backoff(base: .seconds(1), cap: .seconds(30))
    private let accepted: Counter
    private let optedOut: Counter
    private let retried: Counter
    private let paused: Counter
    private let latency: Histogram
    /// By status: to find a counter by its labels costs more than to count.
    private let answers = Locked<[Int: Counter]>([:])

    init(client: HTTPClient, request: LinqRequest, clock: WallClock, log: Log, metrics: Metrics) {
        self.client = client
        self.request = request
        self.clock = clock
        self.log = log
        self.metrics = metrics
        hints = HintSender(client: client, request: request, clock: clock, metrics: metrics)
        accepted = metrics.counter("isthmus_replies_accepted_total", "Replies that Linq has accepted.")
        optedOut = metrics.counter(
            "isthmus_replies_opted_out_total", "Replies not delivered because the recipient has opted out.")
        retried = metrics.counter(
            "isthmus_stage_retried_total", "Tries of a message after the first.", ["stage": Stage.replies.rawValue])
        paused = metrics.counter(
            "isthmus_linq_pauses_total", "Pauses of all sending because nothing got through to Linq.")
        latency = metrics.histogram(
            "isthmus_webhook_to_reply_seconds", "From the webhook's arrival until Linq accepted the reply.")
    }

    func handle(_ item: StageItem<CloudEvent<ChatMessage>>) async -> Verdict {
        switch item.event.data {
        case .reply(let reply): return await send(reply, item)
        case .hint(let hint):
            hints.show(hint, isLinqDown: breaker.isOpen)
            return .done
        }
    }

    private func send(_ reply: ReplyRequest, _ item: StageItem<CloudEvent<ChatMessage>>) async -> Verdict {
        if reply.marksRead == true {
            let hint = ChatHint(chat: reply.chat, kind: .read, expiresAt: reply.expiresAt)
            hints.show(hint, isLinqDown: breaker.isOpen)
        }
        let message: HTTPClientRequest
        do { message = try request.make(reply, traceparent: item.event.traceparent) } catch {
            return .park(reason: "cannot be encoded: \(error)")
        }
        let began = monotonicSeconds()
        var failures = 0
        let expiresAt = Self.expiry(of: reply, headers: item.delivery.message.headers)
        // One that comes for the first time is tried whatever the clock says: late is better than not, and clocks err.
        var isNew = !item.delivery.redelivered
        // The place in the pair's minute, taken before a try and given back if Linq has not got the message.
        var place: Double?
        defer { if let place { pacing.giveBack(reply.chat.id, at: place) } }
        while true {
            guard isNew || Timestamp(clock.now) < expiresAt else {
                return .park(reason: "expired before it was accepted")
            }
            if place == nil {
                let now = monotonicSeconds()
                if let delay = pacing.delay(reply.chat.id, at: now) {
                    guard await item.stop.sleep(for: delay) else { return .handBack(retryAfter: .zero) }
                    continue
                }
                place = now
            }
            switch breaker.admission(at: monotonicSeconds()) {
            case .go: break
            case .wait:
                guard await item.stop.sleep(for: Self.probeInterval) else { return .handBack(retryAfter: .zero) }
                continue
            case .pause(let pause) where pause > Self.longestWait: return .handBack(retryAfter: pause)
            case .pause(let pause):
                guard await item.stop.sleep(for: pause) else { return .handBack(retryAfter: .zero) }
                continue
            }
            let pause: Duration?
            isNew = false
            hints.messageGoes(to: reply.chat.id)
            let (answer, mayHaveArrived) = await send(message, to: reply, resendCount: failures)
            if !mayHaveArrived, let place { pacing.giveBack(reply.chat.id, at: place) }
            place = nil
            switch answer {
            case .accepted:
                accepted.increment()
                note(reply)
                return .done
            case .optedOut:
                optedOut.increment()
                return .done
            case .refused(let reason): return .park(reason: "Linq refused it: \(reason)")
            case .denied(let reason):
                log.error("Linq denies access: is LINQ_API_TOKEN right?", ["answer": reason])
                return .handBack(retryAfter: item.rest(from: Self.rest.first, upTo: Self.rest.longest))
            case .later(let after, let reason):
                log.debug("reply not accepted yet", ["reply": reply.idempotencyKey, "answer": reason])
                pause = after
            }
            failures += 1
            retried.increment()
            guard monotonicSeconds() - began < Self.patience else {
                return .handBack(retryAfter: item.rest(from: Self.rest.first, upTo: Self.rest.longest))
            }
            let delay = max(pause ?? .zero, backoff.delay(after: failures))
            guard await item.stop.sleep(for: delay) else { return .handBack(retryAfter: .zero) }
        }
    }

    /// When the reply's time is over; it begins anew for one that a person has put back.
    static func expiry(of reply: ReplyRequest, headers: [String: String]) -> Timestamp {
        guard let replayedAt = headers[ParkedHeader.replayedAt].flatMap(Int64.init) else { return reply.expiresAt }
        let life = replayLife.milliseconds
        return max(reply.expiresAt, Timestamp(millisecondsSince1970: replayedAt * 1000 + life))
    }

    /// One request; also whether Linq may have the message now.
    private func send(
        _ message: HTTPClientRequest, to reply: ReplyRequest, resendCount: Int
    ) async -> (LinqAnswer, mayHaveArrived: Bool) {
        let span = message.span(request.template(reply), resendCount: resendCount)
        do {
            let response = try await client.send(message, within: Self.requestTimeout)
            span?.end(.success(response))
            count(response.status)
            if response.status >= 500 { noteFailure() } else { breaker.succeeded() }
            return (LinqAnswer(response), !(300..<500).contains(response.status))
        } catch {
            span?.end(.failure(error))
            // Whether Linq has it or not: the same key makes the next try harmless.
            counter("\(error.phase)").increment()
            noteFailure()
            return (.later(after: nil, reason: "\(error)"), true)
        }
    }

    private func noteFailure() {
        guard let pause = breaker.failed(at: monotonicSeconds()) else { return }
        paused.increment()
        log.error("nothing gets through to Linq, pausing", ["seconds": "\(pause)"])
    }

    private func count(_ status: Int) {
        let known = answers.withLock { $0[status] }
        let counter = known ?? counter("\(status)")
        if known == nil { answers.withLock { $0[status] = counter } }
        counter.increment()
    }

    private func counter(_ outcome: String) -> Counter {
        metrics.counter("isthmus_linq_requests_total", "Requests to Linq, by outcome.", ["outcome": outcome])
    }

    private func note(_ reply: ReplyRequest) {
        guard let receivedAt = reply.receivedAt else { return }
        latency.observe(max(0, clock.now.timeIntervalSince(receivedAt.date)))
    }
}
