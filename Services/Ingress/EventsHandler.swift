import AMQP
import Foundation
import HTTPServer
import RegistryClient
import Runtime
import Shared

/// The way of an event of the customer's own backend: verify, read, find the user, publish, and answer when the broker
/// has confirmed.
///
/// Here a 4xx is right for what is malformed: the sender is ours to talk to, and a body that cannot be read does not
/// become better by being sent again.
final class EventsHandler: Sendable {
    static let path = "/v1/events"
    /// Seconds, for `Retry-After`.
    private static let retryAfter = "5"

    /// Whose a user id is; asks the registry.
    typealias LookUp = @Sendable (_ userID: String) async throws(RegistryUnavailable) -> RegistryRecord
    typealias Publish =
        @Sendable (AMQPMessage, _ routingKey: String, @escaping @Sendable (Result<Void, PublishError>) -> Void) -> Void

    /// `nil` if no secret is set: then there is nobody who could post.
    private let signature: WebhookSignature?
    private let trace: RequestTrace
    private let lookUp: LookUp
    private let publish: Publish
    private let partitions: Int
    private let clock: WallClock
    private let log: Log
    private let accepted: Counter
    private let forged: Counter
    private let refused: Counter
    private let unavailable: Counter

    init(
        secrets: [WebhookSecret], partitions: Int, clock: WallClock, log: Log, metrics: Metrics,
        tracer: Tracer? = nil, lookUp: @escaping LookUp, publish: @escaping Publish
    ) {
        trace = RequestTrace(path: Self.path, tracer: tracer)
        signature = secrets.isEmpty ? nil : WebhookSignature(secrets: secrets)
        self.lookUp = lookUp
        self.publish = publish
        self.partitions = partitions
        self.clock = clock
        self.log = log
        accepted = metrics.counter("isthmus_ingress_posted_events_total", "Events of the backend, published.")
        forged = metrics.counter(
            "isthmus_ingress_posted_events_forged_total", "Events whose signature was wrong, old or missing.")
        refused = metrics.counter("isthmus_ingress_posted_events_refused_total", "Genuine events that were malformed.")
        unavailable = metrics.counter(
            "isthmus_ingress_posted_events_unavailable_total", "Genuine events answered with 503.")
    }

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let began = trace.now
        guard let signature else {
            let detail = "no events are taken here: EVENTS_WEBHOOK_SECRETS is not set"
            return responder.respond(.problem(404, title: "Not found", detail: detail))
        }
        guard request.method == "POST" else {
            var answer = HTTPResponse.problem(405, title: "Method not allowed", detail: "events are POSTed")
            answer.headers.append(("Allow", "POST"))
            return responder.respond(answer)
        }
        // The older scheme of Linq's does not sign the id, by which copies are recognised: it counts for nothing here.
        let judgement = signature.judge(body: request.body, now: clock.seconds) { name in
            name.hasPrefix("x-webhook-") ? nil : request.header(name)
        }
        guard judgement == .genuine, let id = request.header("webhook-id") else {
            forged.increment()
            let detail =
                judgement == .outsideTolerance
                ? "webhook-timestamp is more than five minutes off" : "the signature is missing or wrong"
            return responder.respond(.problem(401, title: "Unauthorized", detail: detail))
        }
        do throws(PostedEvent.Invalid) {
            let event = try PostedEvent(request.body)
            trace.run(request, began, responder) { trace, respond in take(event, id: id, trace.context, respond) }
        } catch {
            refused.increment()
            responder.respond(.problem(400, title: "The event is not valid", detail: "\(error)"))
        }
    }

    private typealias Respond = @Sendable (HTTPResponse) -> Void

    private func take(_ event: PostedEvent, id: String, _ trace: TraceContext, _ respond: @escaping Respond) {
        switch event.addressee {
        case .handle(let handle): publish(event, to: handle.text, id: id, trace, respond)
        case .user(let userID):
            // The server waits for it: the request stays open until it has answered, and the look-up has a deadline.
            Task {
                do throws(RegistryUnavailable) {
                    let record = try await self.lookUp(userID)
                    guard record.userID != nil, !record.canonicalHandle.isEmpty else {
                        self.refused.increment()
                        let detail = "no handle is registered for this userID"
                        return respond(.problem(404, title: "Unknown user", detail: detail))
                    }
                    self.publish(event, to: record.canonicalHandle, id: id, trace, respond)
                } catch {
                    self.refuseForNow("\(error)", respond)
                }
            }
        }
    }

    private func publish(
        _ event: PostedEvent, to handle: String, id: String, _ trace: TraceContext, _ respond: @escaping Respond
    ) {
        let receivedAt = Timestamp(clock.now)
        let data = InboundEvent(
            handle: handle,
            content: .custom(CustomEvent(name: event.name, payload: event.payload, receivedAt: receivedAt)))
        let envelope = CloudEvent(
            id: id, source: "events", type: data.type, time: receivedAt, traceparent: trace.traceparent,
            tracestate: trace.state, data: data)
        let body: [UInt8]
        do { body = try envelope.encoded() } catch { return refuseForNow("\(error)", respond) }
        let message = AMQPMessage(
            id: id, type: data.type, timestamp: receivedAt.secondsSince1970,
            contentType: CloudEvent<InboundEvent>.contentType, headers: ["traceparent": trace.traceparent], body: body)
        publish(message, Partition.name(Partition.of(handle, among: partitions))) { [self] result in
            switch result {
            case .success:
                accepted.increment()
                respond(HTTPResponse(status: 202, headers: [], body: []))
            case .failure(let error): refuseForNow("\(error)", respond)
            }
        }
    }

    private func refuseForNow(_ reason: String, _ respond: Respond) {
        unavailable.increment()
        log.debug("event not accepted", ["error": reason])
        var answer = HTTPResponse.problem(
            503, title: "Service unavailable", detail: "the event could not be handed on; post it again")
        answer.headers.append(("Retry-After", Self.retryAfter))
        respond(answer)
    }
}
