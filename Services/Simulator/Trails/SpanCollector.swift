import Foundation
import HTTPServer

/// An OpenTelemetry collector for the page alone: what the services say of a text becomes hops of its trail.
///
/// It takes OTLP over HTTP in JSON, keeps nothing else, and answers as a collector does.
struct SpanCollector: Sendable {
    let trails: Trails

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard request.header("content-type")?.hasPrefix("application/json") == true else {
            return .problem(415, title: "Unsupported Media Type", detail: "OTLP in JSON is taken here, nothing else")
        }
        do {
            take(try JSONDecoder().decode(Export.self, from: Data(request.body)))
        } catch {
            return .problem(400, title: "Bad Request", detail: explain(error))
        }
        return .json(200, Array("{}".utf8))
    }

    private func take(_ export: Export) {
        for resource in export.resourceSpans {
            let service = resource.resource?.attributes?["service.name"] ?? ""
            for span in (resource.scopeSpans ?? []).flatMap({ $0.spans ?? [] }) {
                let isPushed = trails.trail(span.traceId)?.hops.contains { $0.step == .pushed } ?? false
                if let hop = span.hop(of: service, isPushed: isPushed) { trails.add(hop, to: span.traceId) }
            }
        }
    }
}

/// `ExportTraceServiceRequest`, as far as it is read.
private struct Export: Decodable {
    struct ResourceSpans: Decodable {
        struct Resource: Decodable { let attributes: Attributes? }
        struct ScopeSpans: Decodable { let spans: [Span]? }

        let resource: Resource?
        let scopeSpans: [ScopeSpans]?
    }

    let resourceSpans: [ResourceSpans]
}

/// A list of names and values; only texts are read.
private struct Attributes: Decodable {
    private struct Entry: Decodable {
        struct Value: Decodable { let stringValue: String? }
        let key: String
        let value: Value?
    }

    private let values: [String: String]

    init(from decoder: any Decoder) throws {
        let entries = try decoder.singleValueContainer().decode([Entry].self)
        values = Dictionary(entries.compactMap { entry in entry.value?.stringValue.map { (entry.key, $0) } }) { $1 }
    }

    subscript(_ name: String) -> String? { values[name] }
}

private struct Span: Decodable {
    let traceId: String
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: Attributes?

    private var start: Double { (Double(startTimeUnixNano) ?? 0) / 1e9 }
    private var seconds: Double { max(0, (Double(endTimeUnixNano) ?? 0) / 1e9 - start) }

    /// What the page tells of it; `nil` if the simulator has seen as much itself, or it is too small a step.
    func hop(of service: String, isPushed: Bool) -> Hop? {
        guard attributes?["messaging.operation.type"] == "process" else { return nil }
        let verdict = attributes?["isthmus.verdict"] ?? ""
        let end = Date(timeIntervalSince1970: start + seconds)
        switch (service, verdict) {
        case ("agent", "done"):
            return Hop(
                .taken, .good, "The agent takes it, answers, and stores what must go out",
                at: Date(timeIntervalSince1970: start), seconds: seconds)
        case ("apns-pusher", "superseded"):
            return Hop(
                .pushed, .idle, "Superseded: a newer state waits behind this one, and it alone goes out", at: end)
        case ("apns-pusher", "done") where !isPushed:
            return Hop(
                .pushed, .idle, "Nothing is sent: no phone wants it, because the card was swiped away or there is none",
                at: end)
        case (_, "parked"): return Hop(.worked, .bad, "\(service) parks it: it cannot be worked", at: end)
        case (_, "handed_back"):
            return Hop(.worked, .idle, "\(service) hands it back to the queue, to try again later", at: end)
        case (_, "left"): return Hop(.worked, .idle, "\(service) leaves it to another replica", at: end)
        default: return nil
        }
    }
}
