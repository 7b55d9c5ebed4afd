import Foundation
import Runtime
import Shared

@testable import Ingress

/// A webhook's body, whose signature was right: read, ignored or parked, and what goes on to the queue is read there.
@Sendable func fuzzWebhook(_ input: [UInt8]) {
    let now = Timestamp(millisecondsSince1970: 1_800_000_000_000)
    guard case .event(let id, let traceID, let event) = LinqWebhook.read(input, webhookID: "id", receivedAt: now) else {
        return
    }
    let envelope = CloudEvent(
        id: id, source: "linq", type: event.type, time: now, traceparent: TraceContext(traceID: traceID).traceparent,
        data: event)
    do {
        let read = try CloudEvent<InboundEvent>(decoding: envelope.encoded())
        precondition(read.data == event, "the agent reads something else than ingress wrote")
    } catch { preconditionFailure("the agent cannot read what ingress wrote: \(error)") }
    precondition(Handle(event.handle)?.text == event.handle, "the handle is not in its one form")
}
