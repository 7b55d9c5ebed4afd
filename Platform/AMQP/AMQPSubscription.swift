import Runtime

/// One queue being consumed, over a channel of its own that is opened again whenever it is lost.
package final class AMQPSubscription: Sendable {
    enum Source: Sendable {
        case queue(String, prefetch: UInt16)
        /// A queue of this connection alone, under a new name each time, for all that the exchange gets.
        case exclusive(boundTo: String, prefix: String)
    }

    let source: Source
    let onDelivery: @Sendable (AMQPDelivery) -> Void
    let onEnd: @Sendable (String) -> Void
    private let inbox: ConsumerInbox
    private let active = Locked(false)

    init(
        _ source: Source, _ inbox: ConsumerInbox, onDelivery: @escaping @Sendable (AMQPDelivery) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.source = source
        self.inbox = inbox
        self.onDelivery = onDelivery
        self.onEnd = onEnd
    }

    /// Whether the broker has this consumer at the moment.
    package var isActive: Bool { active.withLock { $0 } }

    func setActive(_ isActive: Bool) { active.withLock { $0 = isActive } }

    /// Closes the channel, after all acknowledgements given before: what is unacknowledged goes back in order.
    ///
    /// Nothing is delivered after this returns, and later acknowledgements are ignored. `onEnd` is not called.
    package func close() async {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            inbox.send(.close(self, done: { waiter.resume() }))
        }
    }
}
