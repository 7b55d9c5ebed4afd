import AMQP
import Runtime
import Shared
import Stage

/// What is done for a user whose agent is away: the events that wait in the database are worked in order, as soon as
/// the agent is back.
extension EventHandler {
    /// How long an event waits for the agent at the most.
    static let laneLife = Duration.seconds(4 * 3600)

    /// How long a lane is left alone after `tries` in vain.
    static func laneRest(_ tries: Int) -> Duration { min(DeferredStore.longestRest, .seconds(5 << min(tries, 10))) }

    /// Works the lane until it is empty, or its first event has to wait again.
    func workLane(_ item: StageItem<CloudEvent<InboundEvent>>) async -> Verdict {
        let began = monotonicSeconds()
        do {
            // What is left when the time is over is due again at once, and others get their turn.
            while monotonicSeconds() - began < Self.patience {
                guard !item.stop.isFired else { return .handBack(retryAfter: .zero) }
                let head = try await deferred.head(of: item.event.data.handle)
                guard let head, DeferredStore.isDue(head.dueAt, at: Timestamp(clock.now)), try await work(head, item)
                else { return .done }
            }
        } catch {
            // The lane is still due, and comes again.
            log.warning("deferred lane waits", ["event": item.event.id, "error": "\(error)"])
        }
        return .done
    }

    /// Works the first event of a lane.
    ///
    /// Returns whether the next one may follow.
    private func work(_ head: DeferredStore.Head, _ item: StageItem<CloudEvent<InboundEvent>>) async throws -> Bool {
        let handle = item.event.data.handle
        let event = try CloudEvent<InboundEvent>(decoding: head.body)
        var attempt = attempts.attempt(at: head.eventKey)
        // A part of the trace of the event, not of the reminder that it is due.
        let trace = Trace.resumeInside(event.traceparent, state: event.tracestate)
        let ending = await Trace.$current.withValue(trace) {
            await tryInPlace(event, from: .lane, until: item.stop, &attempt)
        }
        await forget(attempt)
        let now = Timestamp(clock.now)
        var hopeless: String?
        switch ending {
        case .done: break
        // The loop sees that it is to stop.
        case .stopped: return true
        case .notNow: return false
        case .hopeless(let reason): hopeless = reason
        case .agentAway(let reason):
            guard now < head.deferredAt + Self.laneLife else {
                hopeless = "not worked in \(Int(Self.laneLife.seconds / 3600)) hours: \(reason)"
                break
            }
            try await deferred.postpone(handle, until: now + Self.laneRest(head.tries + 1))
            return false
        }
        if let hopeless {
            let message = AMQPMessage(event, body: head.body)
            guard await parking.park(message, from: item.delivery.queue, reason: hopeless) else { return false }
        }
        try await deferred.remove(head.eventKey, of: handle, at: now)
        return true
    }
}
