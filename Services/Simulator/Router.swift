import HTTPServer
import Runtime

/// Who answers what: Linq's API, the controls, the page.
struct Router: Sendable {
    let world: World
    let control: ControlAPI
    let hub: EventHub
    let collector: SpanCollector

    @Sendable func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let segments = request.segments
        if segments.starts(with: LinqEnd.prefix) { return world.linq.handle(request, responder) }
        switch segments.first ?? "" {
        case "control":
            guard isSameOrigin(request) else {
                return responder.respond(
                    .problem(403, title: "Forbidden", detail: "another site's page may not press these buttons"))
            }
            // The server waits for it: the request stays open until it has answered.
            Task { responder.respond(await control.answer(request)) }
        case "events":
            guard let user = request.query.first(where: { $0.name == "user" })?.value, !user.isEmpty else {
                return responder.respond(.problem(400, title: "Bad Request", detail: "which user?"))
            }
            hub.open(responder, about: user)
        case "v1" where segments == ["v1", "traces"] && request.method == "POST":
            responder.respond(collector.answer(request))
        case "healthz", "readyz": responder.respond(.text(200, "ok\n"))
        default: responder.respond(PageFiles.answer(request))
        }
    }

    /// A browser says where the page that asks comes from, if it is another one's; other programs say nothing.
    private func isSameOrigin(_ request: HTTPRequest) -> Bool {
        guard let origin = request.header("origin") else { return true }
        return origin == "http://" + (request.header("host") ?? "")
    }
}
