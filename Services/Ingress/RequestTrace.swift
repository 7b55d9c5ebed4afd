import HTTPServer
import Runtime

/// The trace that a request begins or goes on with, and its span.
struct RequestTrace: Sendable {
    let path: String
    let tracer: Tracer?

    /// When a request's span begins; `nil` if nobody records it.
    var now: SpanTime? { tracer == nil ? nil : .now }

    /// Does the work under a trace, Linq's own where its id is one, and a span that ends with the answer.
    func run(
        _ traceID: String?, _ began: SpanTime?, _ responder: HTTPResponder,
        _ work: (Trace, @escaping @Sendable (HTTPResponse) -> Void) -> Void
    ) {
        run(.begin(traceID: traceID, tracer: tracer), began, responder, work)
    }

    /// Does the work under the trace of the request's sender, or one that begins with it.
    func run(
        _ request: HTTPRequest, _ began: SpanTime?, _ responder: HTTPResponder,
        _ work: (Trace, @escaping @Sendable (HTTPResponse) -> Void) -> Void
    ) {
        let trace = Trace.resume(
            request.header("traceparent"), state: request.header("tracestate"), tracer: tracer)
        run(trace ?? .begin(tracer: tracer), began, responder, work)
    }

    private func run(
        _ trace: Trace, _ began: SpanTime?, _ responder: HTTPResponder,
        _ work: (Trace, @escaping @Sendable (HTTPResponse) -> Void) -> Void
    ) {
        let span = trace.span(
            "POST \(path)", .server,
            [
                "http.request.method": "POST", "http.route": .text(path), "url.path": .text(path),
                "url.scheme": "http",
            ], start: began)
        let inner = span?.trace ?? trace
        Trace.$current.withValue(inner) {
            work(inner) { response in
                span?.end(
                    ["http.response.status_code": .integer(response.status)],
                    error: response.status >= 500 ? "\(response.status)" : nil)
                responder.respond(response)
            }
        }
    }
}
