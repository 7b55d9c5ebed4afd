import HTTPServer
import Runtime

/// Who answers what: Linq's API, the controls, the page.
struct Router: Sendable {
    let world: World
    let control: ControlAPI
    let hub: EventHub

    @Sendable func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let segments = request.segments
        if segments.starts(with: LinqEnd.prefix) { return world.linq.handle(request, responder) }
        switch segments.first ?? "" {
        case "control":
            // The server waits for it: the request stays open until it has answered.
            Task { responder.respond(await control.answer(request)) }
        case "events":
            guard let user = request.query.first(where: { $0.name == "user" })?.value, !user.isEmpty else {
                return responder.respond(.problem(400, title: "Bad Request", detail: "which user?"))
            }
            hub.open(responder, about: user)
        case "healthz", "readyz": responder.respond(.text(200, "ok\n"))
        default: responder.respond(PageFiles.answer(request))
        }
    }
}
