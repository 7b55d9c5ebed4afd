import AMQP
import Crypto
import Foundation
import HTTPServer
import Runtime
import Shared

/// A webhook's way: verify, read, publish, and answer once the broker has confirmed.
///
/// The status decides about loss. Linq tries again after 5xx, 429 and a cut connection, and never after another 4xx:
/// so a genuine delivery gets 2xx when it is safe with the broker, and 503 until then.
final class WebhookHandler: Sendable {
    /// Where Linq's subscription has to point.
    static let path = "/webhooks/linq"
    /// Seconds, for `Retry-After`.
    private static let retryAfter = "5"

    private let signature: WebhookSignature
    private let publisher: AMQPPublisher
    private let partitions: Int
    private let clock: WallClock
    private let log: Log
    private let metrics: Metrics
    private let trace: RequestTrace
    private let events: Counter
    private let unreadable: Counter
    private let forged: Counter
    private let outsideTolerance: Counter
    private let unavailable: Counter

    init(
        secrets: [WebhookSecret], publisher: AMQPPublisher, partitions: Int, clock: WallClock, log: Log,
        metrics: Metrics, tracer: Tracer? = nil
    ) {
        trace = RequestTrace(path: Self.path, tracer: tracer)
        signature = WebhookSignature(secrets: secrets)
        self.publisher = publisher
        self.partitions = partitions
        self.clock = clock
        self.log = log
        self.metrics = metrics
        events = metrics.counter("isthmus_ingress_events_total", "Webhooks published and confirmed.")
        unreadable = metrics.counter("isthmus_ingress_unreadable_total", "Genuine webhooks parked: not understood.")
        forged = metrics.counter("isthmus_ingress_forged_total", "Webhooks whose signature was wrong or missing.")
        outsideTolerance = metrics.counter(
            "isthmus_ingress_outside_tolerance_total", "Genuine webhooks whose time was off by more than five minutes.")
        unavailable = metrics.counter("isthmus_ingress_unavailable_total", "Genuine webhooks answered with 503.")
    }

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let began = trace.now
        guard request.path == Self.path else {
            return responder.respond(
                .problem(
                    404, title: "Not found", detail: "webhooks come to \(Self.path), events to \(EventsHandler.path)"))
        }
        guard request.method == "POST" else {
            return responder.respond(.problem(405, title: "Method not allowed", detail: "webhooks are POSTed"))
        }
        switch signature.judge(body: request.body, now: clock.seconds, header: request.header) {
        case .forged:
            forged.increment()
            responder.respond(.problem(401, title: "Unauthorized", detail: "the signature is missing or wrong"))
        case .outsideTolerance:
            outsideTolerance.increment()
            log.error("webhook outside the time tolerance: is this machine's clock right?")
            responder.respond(Self.unavailableAnswer)
        case .genuine:
            accept(request, responder, began: began)
        }
    }

    private func accept(_ request: HTTPRequest, _ responder: HTTPResponder, began: SpanTime?) {
        let receivedAt = Timestamp(clock.now)
        let webhookID = request.header("webhook-id")
        switch LinqWebhook.read(request.body, webhookID: webhookID, receivedAt: receivedAt) {
        case .ignored(let type, let why):
            count(ignored: type, why)
            responder.respond(HTTPResponse(status: 200, headers: [], body: []))
        case .unreadable(let reason):
            unreadable.increment()
            trace.run(nil, began, responder) { _, respond in
                log.error("webhook not understood, parked whole", ["reason": reason])
                park(request.body, id: webhookID, reason: reason, at: receivedAt, respond)
            }
        case .event(let id, let traceID, let event):
            trace.run(traceID, began, responder) { trace, respond in
                publish(event, id: id, traceparent: trace.context.traceparent, at: receivedAt, respond)
            }
        }
    }

    private func publish(
        _ event: InboundEvent, id: String, traceparent: String, at receivedAt: Timestamp,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let envelope = CloudEvent(
            id: id, source: "linq", type: event.type, time: receivedAt, traceparent: traceparent, data: event)
        let body: [UInt8]
        do { body = try envelope.encoded() } catch {
            // Encodable values of texts and numbers do not fail; if they do, Linq's copy is the one that is left.
            log.error("event cannot be encoded", ["error": "\(error)"])
            return respond(Self.unavailableAnswer)
        }
        let message = AMQPMessage(
            id: id, type: event.type, timestamp: receivedAt.secondsSince1970,
            contentType: CloudEvent<InboundEvent>.contentType, headers: ["traceparent": traceparent], body: body)
        let routingKey = Partition.name(Partition.of(event.handle, among: partitions))
        publisher.publish(message, exchange: Stage.inbound.exchange, routingKey: routingKey) { [self] result in
            answer(result, events, respond)
        }
    }

    private func park(
        _ body: [UInt8], id: String?, reason: String, at receivedAt: Timestamp,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        // What cannot be the name of a message must not keep it from being parked.
        let name = id.flatMap { LinqWebhook.isIdentifier($0) ? $0 : nil }
        let message = AMQPMessage(
            id: name ?? UUID().uuidString.lowercased(), type: "linq.webhook.unreadable",
            timestamp: receivedAt.secondsSince1970,
            contentType: "application/json",
            headers: [ParkedHeader.reason: reason, ParkedHeader.service: "ingress"], body: body)
        publisher.publish(message, exchange: Topology.parkedExchange, routingKey: Stage.inbound.rawValue) {
            [self] result in answer(result, nil, respond)
        }
    }

    private func answer(
        _ result: Result<Void, PublishError>, _ counter: Counter?, _ respond: (HTTPResponse) -> Void
    ) {
        switch result {
        case .success:
            counter?.increment()
            respond(HTTPResponse(status: 200, headers: [], body: []))
        case .failure(let error):
            unavailable.increment()
            log.debug("webhook not accepted", ["error": "\(error)"])
            respond(Self.unavailableAnswer)
        }
    }

    private func count(ignored type: String, _ why: LinqWebhook.Ignored) {
        // The type comes from outside: only one that looks like Linq's own becomes a label.
        let isPlain =
            type.utf8.count <= 64 && type.utf8.allSatisfy { $0 == 0x2E || $0 == 0x5F || (0x61...0x7A).contains($0) }
        metrics.counter(
            "isthmus_ingress_ignored_total", "Genuine webhooks that need no action, by type.",
            ["type": isPlain ? type : "other", "why": why.rawValue]
        ).increment()
    }

    private static let unavailableAnswer = HTTPResponse(
        status: 503, headers: [(name: "Retry-After", value: retryAfter)], body: [])
}
