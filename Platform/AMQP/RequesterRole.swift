import Runtime

/// A message that wants an answer, with who waits for it.
struct Question: Sendable {
    let message: AMQPMessage
    let exchange: String
    let routingKey: String
    let deadline: Double
    let completion: @Sendable (Result<AMQPMessage, PublishError>) -> Void
}

/// Sends questions and hands out answers, over one channel with RabbitMQ's direct reply-to.
///
/// Lives on the connection's thread.
final class RequesterRole: ConnectionRole {
    /// Stands for the channel itself: no queue is made (www.rabbitmq.com/docs/direct-reply-to).
    private static let replyQueue = "amq.rabbitmq.reply-to"

    private let inbox: MessageInbox<Question>
    private let thread: ConnectionThread
    private let metrics: ConnectionMetrics
    private var channel: UInt16 = 0
    private var open: [String: Question] = [:]
    private var lastNumber: UInt64 = 0
    private var nextDeadline = Double.infinity
    private var completed = 0

    init(_ inbox: MessageInbox<Question>, _ thread: ConnectionThread, _ metrics: ConnectionMetrics) {
        self.inbox = inbox
        self.thread = thread
        self.metrics = metrics
    }

    func opened(_ connection: Connection) throws(AMQPError) {
        channel = try connection.openChannel()
        try connection.consume(Self.replyQueue, noAck: true, channel)
        inbox.setAcceptance(.open)
    }

    func handle(_ event: BrokerEvent, _ connection: Connection) throws(AMQPError) {
        switch event {
        case .delivered(let content): finish(content.message.correlationID, .success(content.message))
        case .returned(let content):
            metrics.returned.increment()
            finish(content.message.correlationID, .failure(.unroutable))
        case .blocked(let reason):
            inbox.setAcceptance(.refusing(.blocked))
            thread.setState(.blocked(reason))
            metrics.blocked.set(1)
        case .unblocked:
            metrics.blocked.set(0)
            inbox.setAcceptance(.open)
            thread.setState(.ready)
        case .channelClosed(_, let error): throw error
        case .cancelled: throw AMQPError(.connection, "wait for answers", "the broker cancelled the reply consumer")
        case .acknowledged, .refused: break
        }
    }

    func turn(_ connection: Connection, _ now: Double) throws(AMQPError) -> Double? {
        let questions = inbox.take(completed: completed)
        completed = 0
        // All are noted before the first is sent: if sending fails, each of them gets its answer.
        let numbered = questions.map { (note($0), $0) }
        for (number, question) in numbered {
            var message = question.message
            message.replyTo = Self.replyQueue
            message.correlationID = number
            try connection.publish(message, exchange: question.exchange, routingKey: question.routingKey, channel)
        }
        if now >= nextDeadline { expire(now) }
        metrics.inFlight.set(open.count)
        return nextDeadline
    }

    func disconnected(_ reason: String) {
        inbox.setAcceptance(.refusing(.notConnected))
        for question in inbox.take(completed: completed) { _ = note(question) }
        completed = 0
        for number in Array(open.keys) { finish(number, .failure(.notConnected)) }
        _ = inbox.take(completed: completed)
        completed = 0
        nextDeadline = .infinity
        metrics.blocked.set(0)
        metrics.inFlight.set(0)
    }

    func turnOffline() {}

    var isIdle: Bool { open.isEmpty }

    private func note(_ question: Question) -> String {
        lastNumber += 1
        let number = "\(lastNumber)"
        open[number] = question
        nextDeadline = min(nextDeadline, question.deadline)
        return number
    }

    private func expire(_ now: Double) {
        for (number, question) in open where question.deadline <= now { finish(number, .failure(.timedOut)) }
        nextDeadline = open.values.lazy.map(\.deadline).min() ?? .infinity
    }

    /// An answer that nobody waits for any more is dropped.
    private func finish(_ number: String?, _ result: Result<AMQPMessage, PublishError>) {
        guard let number, let question = open.removeValue(forKey: number) else { return }
        completed += 1
        question.completion(result)
    }
}
