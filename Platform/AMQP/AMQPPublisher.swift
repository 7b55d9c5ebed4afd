package import Runtime
package import Shared

/// Publishes with confirms over a connection of its own, which it keeps and renews until it is closed.
///
/// Messages go out in the order in which they are handed over, many in flight at once. Every message has exactly one
/// outcome, within the confirm timeout. Persistent or not is the message's own property; all are mandatory.
/// Whoever starts it closes it: its thread would go on for ever.
package final class AMQPPublisher: Sendable {
    private let endpoint: AMQPEndpoint
    private let thread: ConnectionThread
    private let inbox: MessageInbox<Outgoing>
    private let metrics: ConnectionMetrics
    private let window: Int
    private let confirmTimeout: Duration

    /// Makes the publisher; `start()` connects it.
    ///
    /// - Parameters:
    ///   - name: What the broker shows for the connection: `service/instance/publish`.
    ///   - requires: What must be there on the broker before anything is published.
    ///   - window: How many messages may be without the broker's answer.
    ///   - confirmTimeout: From handing a message over to its outcome at the latest.
    ///   - maxQueued: How many messages may be without an outcome, those in the window included.
    package init(
        _ endpoint: AMQPEndpoint, name: String, requires: [TopologyRequirement] = [], window: Int = 1024,
        confirmTimeout: Duration = .seconds(4), maxQueued: Int = 16_384, options: AMQPOptions = AMQPOptions(),
        log: Log, metrics: Metrics
    ) {
        self.endpoint = endpoint
        self.metrics = ConnectionMetrics(metrics, connection: name)
        self.window = window
        self.confirmTimeout = confirmTimeout
        thread = ConnectionThread(
            endpoint, name: name, requires: requires, options: options, log: log, metrics: self.metrics)
        inbox = MessageInbox(limit: maxQueued, wakeup: thread.wakeup)
    }

    /// Begins to connect, and to connect again whenever the connection is lost; does not wait.
    package func start() {
        thread.start { [inbox, thread, metrics, window, confirmTimeout] in
            PublisherRole(inbox, thread, metrics, window: window, confirmTimeout: confirmTimeout)
        }
    }

    package var state: AMQPState { thread.state }

    /// Waits until messages are taken; throws what stands in the way when the time is over.
    package func waitUntilReady(within limit: Duration) async throws { try await thread.waitUntilReady(within: limit) }

    /// Hands a message over; it carries on the caller's trace, if the caller works for one.
    ///
    /// - Parameter completion: Called once: with success after the broker confirmed. It runs on the connection's thread
    ///   and must not wait; if the message is refused at once, it runs on the caller's thread before this returns.
    package func publish(
        _ message: AMQPMessage, exchange: String, routingKey: String,
        completion: @escaping @Sendable (Result<Void, PublishError>) -> Void
    ) {
        if let objection = message.objection(exchange: exchange, routingKey: routingKey) {
            return completion(.failure(.invalid(objection)))
        }
        var message = message
        var completion = completion
        if let span = message.joinTrace(.publish, exchange: exchange, routingKey: routingKey, endpoint) {
            completion = { [completion] result in
                span.end(result)
                completion(result)
            }
        }
        let outgoing = Outgoing(
            message: message, exchange: exchange, routingKey: routingKey, acceptedAt: monotonicSeconds(),
            completion: completion)
        if let refusal = inbox.offer(outgoing) { completion(.failure(refusal)) }
    }

    /// Hands a message over and waits for the broker's confirm.
    package func publish(_ message: AMQPMessage, exchange: String, routingKey: String) async throws(PublishError) {
        let result = await withCheckedContinuation { (waiter: CheckedContinuation<Result<Void, PublishError>, Never>) in
            publish(message, exchange: exchange, routingKey: routingKey) { waiter.resume(returning: $0) }
        }
        try result.get()
    }

    /// Hands messages over, all at once and in their order, and waits for the broker's confirm of each.
    ///
    /// Throws the first error after all have had their outcome.
    package func publish(
        _ messages: [(message: AMQPMessage, exchange: String, routingKey: String)]
    ) async throws(PublishError) {
        guard !messages.isEmpty else { return }
        let open = Locked<(count: Int, error: PublishError?)>((messages.count, nil))
        let result = await withCheckedContinuation { (waiter: CheckedContinuation<Result<Void, PublishError>, Never>) in
            for (message, exchange, routingKey) in messages {
                publish(message, exchange: exchange, routingKey: routingKey) { result in
                    let (left, error) = open.withLock { open in
                        open.count -= 1
                        if case .failure(let error) = result, open.error == nil { open.error = error }
                        return open
                    }
                    guard left == 0 else { return }
                    waiter.resume(returning: error.map { .failure($0) } ?? .success(()))
                }
            }
        }
        try result.get()
    }

    /// Takes nothing more, waits for the open confirms within the confirm timeout, and closes the connection.
    package func close() async {
        inbox.close()
        await thread.close(within: confirmTimeout)
    }
}
