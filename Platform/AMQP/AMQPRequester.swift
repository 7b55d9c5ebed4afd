package import Runtime
package import Shared

/// Asks questions over the broker and waits for the answers, many at once, over a connection of its own.
///
/// Nothing is confirmed or kept: a question that gets no answer in time was lost, or its answer was. Whoever starts it
/// closes it: its thread would go on for ever.
package final class AMQPRequester: Sendable {
    private let endpoint: AMQPEndpoint
    private let thread: ConnectionThread
    private let inbox: MessageInbox<Question>
    private let metrics: ConnectionMetrics

    /// Makes the requester; `start()` connects it.
    ///
    /// - Parameters:
    ///   - name: What the broker shows for the connection: `service/instance/request`.
    ///   - maxOpen: How many questions may wait for their answers.
    package init(
        _ endpoint: AMQPEndpoint, name: String, requires: [TopologyRequirement] = [], maxOpen: Int = 4096,
        options: AMQPOptions = AMQPOptions(), log: Log, metrics: Metrics
    ) {
        self.endpoint = endpoint
        self.metrics = ConnectionMetrics(metrics, connection: name)
        thread = ConnectionThread(
            endpoint, name: name, requires: requires, options: options, log: log, metrics: self.metrics)
        inbox = MessageInbox(limit: maxOpen, wakeup: thread.wakeup)
    }

    /// Begins to connect, and to connect again whenever the connection is lost; does not wait.
    package func start() {
        thread.start { [inbox, thread, metrics] in RequesterRole(inbox, thread, metrics) }
    }

    package var state: AMQPState { thread.state }

    /// Waits until questions are taken; throws what stands in the way when the time is over.
    package func waitUntilReady(within limit: Duration) async throws { try await thread.waitUntilReady(within: limit) }

    /// Sends `message` and returns the answer; the question carries on the caller's trace, if the caller works for one.
    ///
    /// The answerer publishes to the default exchange (named by the empty string) with the question's `replyTo` as
    /// routing key and its `correlationID`. Both are set here, and the message is never persistent.
    package func request(
        _ message: AMQPMessage, exchange: String, routingKey: String, within limit: Duration
    ) async throws(PublishError) -> AMQPMessage {
        var message = message
        message.persistent = false
        if let objection = message.objection(exchange: exchange, routingKey: routingKey) { throw .invalid(objection) }
        let span = message.joinTrace(.request, exchange: exchange, routingKey: routingKey, endpoint)
        let result = await withCheckedContinuation { waiter in
            let question = Question(
                message: message, exchange: exchange, routingKey: routingKey,
                deadline: monotonicSeconds() + limit.seconds, completion: { waiter.resume(returning: $0) })
            if let refusal = inbox.offer(question) { waiter.resume(returning: .failure(refusal)) }
        }
        span?.end(result)
        return try result.get()
    }

    /// Asks nothing more, waits a moment for open answers, and closes the connection.
    package func close() async {
        inbox.close()
        await thread.close(within: .seconds(2))
    }
}
