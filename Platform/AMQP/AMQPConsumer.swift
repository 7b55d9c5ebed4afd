package import Runtime
package import Shared

/// Consumes queues over a connection of its own, which it keeps and renews until it is closed.
///
/// Whoever starts it closes it: its thread would go on for ever.
package final class AMQPConsumer: Sendable {
    private let thread: ConnectionThread
    private let inbox: ConsumerInbox

    /// Makes the consumer; `start()` connects it.
    ///
    /// - Parameters:
    ///   - name: What the broker shows for the connection: `service/instance/consume`.
    ///   - requires: What must be there on the broker before anything is consumed.
    package init(
        _ endpoint: AMQPEndpoint, name: String, requires: [TopologyRequirement] = [],
        options: AMQPOptions = AMQPOptions(), log: Log, metrics: Metrics
    ) {
        thread = ConnectionThread(
            endpoint, name: name, requires: requires, options: options, log: log,
            metrics: ConnectionMetrics(metrics, connection: name))
        inbox = ConsumerInbox(wakeup: thread.wakeup)
    }

    /// Begins to connect, and to connect again whenever the connection is lost; does not wait.
    package func start() {
        thread.start { [inbox, thread] in ConsumerRole(inbox, thread) }
    }

    package var state: AMQPState { thread.state }

    /// Waits until connected; throws what stands in the way when the time is over.
    package func waitUntilReady(within limit: Duration) async throws { try await thread.waitUntilReady(within: limit) }

    /// Consumes `queue` until the subscription is closed, over however many connections and channels it takes.
    ///
    /// - Parameters:
    ///   - prefetch: How many deliveries the broker hands out before they are acknowledged; bounds what waits here.
    ///   - onDelivery: Called on the connection's thread, in the queue's order; must not wait.
    ///   - onEnd: Called on the connection's thread with the reason each time the channel is lost. All that is
    ///     unacknowledged will come again: drop it. The subscription goes on by itself.
    package func consume(
        queue: String, prefetch: UInt16, onDelivery: @escaping @Sendable (AMQPDelivery) -> Void,
        onEnd: @escaping @Sendable (String) -> Void = { _ in }
    ) -> AMQPSubscription {
        subscribe(.queue(queue, prefetch: prefetch), onDelivery, onEnd)
    }

    /// Hears all that is published to `exchange` while connected, over a queue that is gone with the connection.
    ///
    /// Nothing is to be acknowledged. For news that nobody misses afterwards: what is published while there is no
    /// connection is not heard.
    package func consumeExclusive(
        boundTo exchange: String, queueNamePrefix: String, onDelivery: @escaping @Sendable (AMQPDelivery) -> Void,
        onEnd: @escaping @Sendable (String) -> Void = { _ in }
    ) -> AMQPSubscription {
        subscribe(.exclusive(boundTo: exchange, prefix: queueNamePrefix), onDelivery, onEnd)
    }

    /// How many messages wait in `queue`, those that consumers have in hand left out.
    package func count(of queue: String) async throws(AMQPError) -> Int {
        try await withCheckedContinuation { (waiter: CheckedContinuation<Result<Int, AMQPError>, Never>) in
            inbox.send(.count(queue: queue, done: { waiter.resume(returning: $0) }))
        }.get()
    }

    private func subscribe(
        _ source: AMQPSubscription.Source, _ onDelivery: @escaping @Sendable (AMQPDelivery) -> Void,
        _ onEnd: @escaping @Sendable (String) -> Void
    ) -> AMQPSubscription {
        let subscription = AMQPSubscription(source, inbox, onDelivery: onDelivery, onEnd: onEnd)
        inbox.send(.open(subscription))
        return subscription
    }

    /// Sends the acknowledgements given before, then closes the connection: the rest goes back in order.
    package func close() async {
        await thread.close(within: .seconds(2))
        inbox.finish()
    }
}
