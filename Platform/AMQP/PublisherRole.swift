import Runtime

/// A message on its way to the broker, with who waits for its outcome.
struct Outgoing: Sendable {
    let message: AMQPMessage
    let exchange: String
    let routingKey: String
    let acceptedAt: Double
    let completion: @Sendable (Result<Void, PublishError>) -> Void
}

/// Publishes what the inbox holds over one channel in confirm mode.
///
/// Lives on the connection's thread.
final class PublisherRole: ConnectionRole {
    /// The broker owes an answer for this long past a message's deadline: then a new connection must help.
    private static let stuckSeconds = 30.0
    /// With so many on their way, the next ones gather: for many that come together the broker has much less to do than
    /// for each by itself, and nobody waits longer for it who waits for those before.
    private static let busy = 16
    /// How long they gather, in seconds, and how many at the most.
    private static let gathering = (seconds: 0.005, most: 256)

    private let inbox: MessageInbox<Outgoing>
    private let thread: ConnectionThread
    private let metrics: ConnectionMetrics
    private let window: Int
    private let confirmTimeout: Double
    private var channel: UInt16 = 0
    private var backlog = FIFO<Outgoing>()
    private var tracker = ConfirmTracker<Outgoing>()
    private var lastAnswer = 0.0
    private var lastPublish = 0.0
    private var completed = 0
    private var isBlocked = false

    init(
        _ inbox: MessageInbox<Outgoing>, _ thread: ConnectionThread, _ metrics: ConnectionMetrics, window: Int,
        confirmTimeout: Duration
    ) {
        self.inbox = inbox
        self.thread = thread
        self.metrics = metrics
        self.window = window
        self.confirmTimeout = confirmTimeout.seconds
    }

    func opened(_ connection: Connection) throws(AMQPError) {
        channel = try connection.openChannel()
        try connection.confirmSelect(channel)
        lastAnswer = monotonicSeconds()
        inbox.setAcceptance(.open)
    }

    func handle(_ event: BrokerEvent, _ connection: Connection) throws(AMQPError) {
        switch event {
        case .acknowledged(let tag, let multiple): answered(tag, multiple, confirmed: true)
        case .refused(let tag, let multiple): answered(tag, multiple, confirmed: false)
        case .returned(let content):
            metrics.returned.increment()
            tracker.returned { outgoing in
                outgoing.message.id == content.message.id && outgoing.routingKey == content.routingKey
                    && outgoing.exchange == content.exchange
            }
        case .blocked(let reason): blocked(reason)
        case .unblocked: unblocked()
        // A missing exchange, say: what was in flight has an unknown fate, so the connection is begun anew, and the
        // look at the topology that comes with it names what is missing.
        case .channelClosed(_, let error): throw error
        case .delivered, .cancelled: break
        }
    }

    func turn(_ connection: Connection, _ now: Double) throws(AMQPError) -> Double? {
        for outgoing in inbox.take(completed: completed) { backlog.append(outgoing) }
        completed = 0
        if isBlocked { failBacklog(.blocked) }
        let isGathering = isGathering(now)
        if !isGathering, !backlog.isEmpty {
            lastPublish = now
            try connection.together(backlog.count) { () throws(AMQPError) in try publishBacklog(connection, now) }
        }
        expire(now)
        metrics.inFlight.set(tracker.unanswered)
        if tracker.unanswered > 0, !isBlocked, now > lastAnswer + confirmTimeout + Self.stuckSeconds {
            throw AMQPError(.timedOut, "wait for confirms", "none came for \(Int(now - lastAnswer)) s")
        }
        if isGathering { return lastPublish + Self.gathering.seconds }
        return (tracker.oldestOpen() ?? backlog.first).map { $0.acceptedAt + confirmTimeout }
    }

    private func isGathering(_ now: Double) -> Bool {
        tracker.unanswered >= Self.busy && !backlog.isEmpty && backlog.count < Self.gathering.most
            && now < lastPublish + Self.gathering.seconds
    }

    private func publishBacklog(_ connection: Connection, _ now: Double) throws(AMQPError) {
        while tracker.unanswered < window, let outgoing = backlog.popFirst() {
            guard now < outgoing.acceptedAt + confirmTimeout else {
                complete(outgoing, .failure(.timedOut))
                continue
            }
            if tracker.unanswered == 0 { lastAnswer = now }
            tracker.sent(outgoing)
            try connection.publish(
                outgoing.message, exchange: outgoing.exchange, routingKey: outgoing.routingKey, channel)
        }
    }

    func disconnected(_ reason: String) {
        inbox.setAcceptance(.refusing(.notConnected))
        for outgoing in tracker.reset() { complete(outgoing, .failure(.notConnected)) }
        for outgoing in inbox.take(completed: completed) { backlog.append(outgoing) }
        completed = 0
        failBacklog(.notConnected)
        isBlocked = false
        metrics.blocked.set(0)
        metrics.inFlight.set(0)
        _ = inbox.take(completed: completed)
        completed = 0
    }

    func turnOffline() {}

    var isIdle: Bool { backlog.isEmpty && !hasOpen }

    private var hasOpen: Bool { tracker.oldestOpen() != nil }

    private func answered(_ tag: UInt64, _ multiple: Bool, confirmed: Bool) {
        let now = monotonicSeconds()
        lastAnswer = now
        tracker.answered(tag, multiple: multiple, confirmed: confirmed) { outgoing, outcome in
            switch outcome {
            case .confirmed:
                metrics.published.increment()
                metrics.confirmSeconds.observe(now - outgoing.acceptedAt)
                complete(outgoing, .success(()))
            case .refused:
                metrics.nacked.increment()
                complete(outgoing, .failure(.refused))
            case .unroutable:
                complete(outgoing, .failure(.unroutable))
            }
        }
    }

    private func blocked(_ reason: String) {
        isBlocked = true
        inbox.setAcceptance(.refusing(.blocked))
        thread.setState(.blocked(reason))
        metrics.blocked.set(1)
        thread.log.warning("broker blocks publishing", ["connection": thread.name, "reason": reason])
    }

    private func unblocked() {
        isBlocked = false
        lastAnswer = monotonicSeconds()
        metrics.blocked.set(0)
        thread.log.info("broker takes messages again", ["connection": thread.name])
        inbox.setAcceptance(.open)
        thread.setState(.ready)
    }

    /// Completes what waited too long: sent or not, the caller was promised an answer by then.
    private func expire(_ now: Double) {
        while let oldest = tracker.oldestOpen(), now >= oldest.acceptedAt + confirmTimeout {
            guard let late = tracker.abandonOldest() else { return }
            complete(late, .failure(.timedOut))
        }
        while let oldest = backlog.first, now >= oldest.acceptedAt + confirmTimeout {
            _ = backlog.popFirst()
            complete(oldest, .failure(.timedOut))
        }
    }

    private func failBacklog(_ error: PublishError) {
        for outgoing in backlog.removeAll() { complete(outgoing, .failure(error)) }
    }

    private func complete(_ outgoing: Outgoing, _ result: Result<Void, PublishError>) {
        completed += 1
        outgoing.completion(result)
    }
}
