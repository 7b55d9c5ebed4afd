package import Runtime

// Spans as OpenTelemetry's semantic conventions for messaging and RabbitMQ name them.

extension AMQPMessage {
    private static let traceparent = "traceparent"
    private static let tracestate = "tracestate"
    private static let directReply = "amq.rabbitmq.reply-to"

    /// The context that the message came with, or is to go out with.
    package var traceparent: String? { headers[Self.traceparent] }

    /// What others have to say of the trace.
    var tracestate: String? { headers[Self.tracestate] }

    /// Puts the message into the trace of the work that publishes it.
    ///
    /// - Returns: A span of the sending, if the trace is recorded; it ends with the broker's answer.
    mutating func joinTrace(
        _ operation: MessagingOperation, exchange: String, routingKey: String, _ endpoint: AMQPEndpoint
    ) -> Span? {
        guard let trace = Trace.current else { return nil }
        // An answer goes to a queue of one asker, whose name is as long as it is meaningless.
        let routingKey = routingKey.hasPrefix(Self.directReply) ? Self.directReply : routingKey
        var destination: String { [exchange, routingKey].filter { !$0.isEmpty }.joined(separator: ":") }
        let span = trace.span(
            "\(operation.name) \(destination)", operation.kind,
            attributes(operation, destination, routingKey, endpoint))
        headers[Self.traceparent] = (span?.context ?? trace.context).traceparent
        headers[Self.tracestate] = trace.context.state
        return span
    }

    private func attributes(
        _ operation: MessagingOperation, _ destination: String, _ routingKey: String, _ endpoint: AMQPEndpoint
    ) -> [String: SpanValue] {
        var attributes = operation.attributes(destination, routingKey, self)
        // Of a cluster's nodes any may have it.
        if endpoint.addresses.count == 1, let server = endpoint.addresses.first {
            attributes["server.address"] = .text(server.host)
            attributes["server.port"] = .integer(Int(server.port))
        }
        return attributes
    }
}

extension Span {
    /// Ends with what the broker said.
    func end<Success>(_ result: Result<Success, PublishError>) {
        switch result {
        case .success: end()
        case .failure(let error): end(error: error.name)
        }
    }
}

extension PublishError {
    fileprivate var name: String {
        switch self {
        case .notConnected: "not_connected"
        case .blocked: "blocked"
        case .unroutable: "unroutable"
        case .refused: "refused"
        case .timedOut: "timed_out"
        case .closed: "closed"
        case .tooMany: "too_many"
        case .invalid: "invalid"
        }
    }
}

extension AMQPDelivery {
    /// The trace that the message belongs to.
    ///
    /// - Parameter tracer: Begins one, if the message has none.
    package func trace(_ tracer: Tracer?) -> Trace? {
        .resume(message.traceparent, state: message.tracestate, tracer: tracer)
    }

    /// Does the work that the message asks for as a part of its trace, under a span of its own.
    package func traced(_ tracer: Tracer?, _ work: @Sendable () async -> Void) async {
        let trace = trace(tracer)
        let span = span(.process, in: trace)
        await Trace.$current.withValue(span?.trace ?? trace, operation: work)
        span?.end()
    }

    /// A span of what is done with the message.
    package func span(_ operation: MessagingOperation, in trace: Trace?, start: SpanTime? = nil) -> Span? {
        guard let trace else { return nil }
        return trace.span(
            "\(operation.name) \(destination)", operation.kind, attributes(operation), start: start)
    }

    /// The parts that are not empty; a routing key that is the queue's name stands once.
    private var destination: String {
        [exchange, routingKey == queue ? "" : routingKey, queue].filter { !$0.isEmpty }.joined(separator: ":")
    }

    private func attributes(_ operation: MessagingOperation) -> [String: SpanValue] {
        var attributes = operation.attributes(destination, routingKey, message)
        attributes["messaging.rabbitmq.message.delivery_tag"] = .integer(Int(clamping: tag))
        if deliveryCount > 0 { attributes["isthmus.message.delivery_count"] = .integer(deliveryCount) }
        return attributes
    }
}

/// What a service does with a message.
package enum MessagingOperation: String, Sendable {
    case publish
    /// Sends a question and waits for its answer.
    case request
    /// From the message's arrival until its turn has come among those of its key.
    case receive
    case process

    var name: String { rawValue }

    /// `messaging.operation.type`.
    private var type: String {
        switch self {
        case .publish, .request: "send"
        case .receive: "receive"
        case .process: "process"
        }
    }

    var kind: FinishedSpan.Kind {
        switch self {
        case .publish, .request: .producer
        case .receive: .client
        case .process: .consumer
        }
    }

    func attributes(_ destination: String, _ routingKey: String, _ message: AMQPMessage) -> [String: SpanValue] {
        var attributes: [String: SpanValue] = [
            "messaging.system": "rabbitmq",
            "messaging.operation.name": .text(name),
            "messaging.operation.type": .text(type),
            "messaging.destination.name": .text(destination),
            "messaging.message.id": .text(message.id),
            "messaging.message.body.size": .integer(message.body.count),
        ]
        if !routingKey.isEmpty { attributes["messaging.rabbitmq.destination.routing_key"] = .text(routingKey) }
        if let id = message.correlationID { attributes["messaging.message.conversation_id"] = .text(id) }
        return attributes
    }
}
