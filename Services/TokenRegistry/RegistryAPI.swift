import Database
import Foundation
import HTTPServer
import Runtime
import Shared

/// The HTTP interface for the customer's app and server.
struct RegistryAPI: Sendable {
    let store: RegistryStore
    let outbox: Outbox
    let authenticator: Authenticator
    let rateLimit: RateLimit
    let log: Log
    let figures: Figures
    var tracer: Tracer?

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let route = Route(request.segments)
        let response: HTTPResponse
        do {
            response = try await answer(request, route)
        } catch let refusal as RequestRefused {
            response = .problem(refusal)
        } catch {
            log.error("call failed", ["call": route?.name ?? "none", "error": "\(error)"])
            response = .problem(.unavailable, headers: [("Retry-After", "5")])
        }
        figures.call(route?.name ?? "none", response.status)
        return response
    }

    private func answer(_ request: HTTPRequest, _ route: Route?) async throws -> HTTPResponse {
        guard let route else { throw RequestRefused.notFound }
        guard route.methods.contains(request.method) else {
            return .problem(.methodNotAllowed, headers: [("Allow", route.methods.joined(separator: ", "))])
        }
        guard let userID = route.userID else { return .json(200, OpenAPIDocument.bytes) }
        let caller: Caller
        do {
            caller = try authenticator.caller(request.header("Authorization"))
        } catch {
            figures.authentication("refused")
            return .problem(.unauthorized(error), headers: [("WWW-Authenticate", "Bearer")])
        }
        figures.authentication(caller == .backend ? "backend" : "user")
        // Another user's path looks as if there were nothing, whether there is or not.
        guard caller.mayReach(userID) else { throw RequestRefused.notFound }
        for (name, value) in route.parameters { _ = try Identifier.check(value, at: name) }
        if let seconds = rateLimit.take(userID) {
            return .problem(.tooMany, headers: [("Retry-After", "\(seconds)")])
        }
        return try await traced(request, route) { try await perform(request, route, caller) }
    }

    /// Does the work as a part of the caller's trace, or of one that begins with it, under a span of its own.
    private func traced(
        _ request: HTTPRequest, _ route: Route, _ work: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let caller = Trace.resume(
            request.header("traceparent"), state: request.header("tracestate"), tracer: tracer)
        let trace = caller ?? .begin(tracer: tracer)
        let span = trace.span(
            "\(request.method) \(route.template)", .server,
            [
                "http.request.method": .text(request.method), "http.route": .text(route.template),
                "url.scheme": "http",
            ])
        func end(_ status: Int) {
            span?.end(["http.response.status_code": .integer(status)], error: status >= 500 ? "\(status)" : nil)
        }
        do {
            let response = try await Trace.$current.withValue(span?.trace ?? trace, operation: work)
            end(response.status)
            return response
        } catch {
            end((error as? RequestRefused ?? .unavailable).status)
            throw error
        }
    }

    private func perform(_ request: HTTPRequest, _ route: Route, _ caller: Caller) async throws -> HTTPResponse {
        switch (route, request.method) {
        case (.handles(let user), _): return try await putHandles(user, try body(of: request), caller)
        case (.startToken(let user, let device), _):
            let body: RequestBody.StartToken = try body(of: request)
            let token = try body.checked(device: device)
            return try await change(user, claiming: .token(token.token)) { $0.register(token, at: $1) }
        case (.activity(let user, let device, let activity), "PUT"):
            let body: RequestBody.Activity = try body(of: request)
            let card = try body.checked(device: device, activity: activity, now: Timestamp(store.clock.now))
            let id = UUID().uuidString
            return try await change(user, claiming: .token(card.token)) { $0.register(card, id: id, at: $1) }
        case (.activity(let user, let device, let activity), _):
            return try await deleteActivity(user, device, activity, request)
        case (.activities(let user, let device), _):
            return try await reconcile(user, device, try body(of: request))
        case (.user(let user), "GET"): return try await showUser(user, caller)
        case (.user(let user), _): return try await eraseUser(user, caller)
        case (.openAPI, _): throw RequestRefused.notFound
        }
    }

    /// The customer's server says which handles are the user's, all of them.
    ///
    /// The user's own token can only add what it proves: it says nothing of the others.
    private func putHandles(
        _ userID: String, _ body: RequestBody.Handles, _ caller: Caller
    ) async throws -> HTTPResponse {
        let handles = try body.checked()
        if case .user(_, let verified) = caller {
            for (index, handle) in handles.enumerated() where !verified.contains(handle) {
                throw RequestRefused(
                    status: 403, title: "The handle is not proven",
                    detail: "your token does not say that this handle was verified to be yours",
                    pointer: "/handles/\(index)",
                    expected: "the token's phone_number or email, with phone_number_verified or email_verified true")
            }
        }
        let isWhole = caller == .backend
        return try await change(userID, claiming: .handles(handles)) { user, _ in
            if isWhole { user.replaceHandles(with: handles) } else { user.addHandles(handles) }
        }
    }

    private func deleteActivity(
        _ userID: String, _ device: String, _ activity: String, _ request: HTTPRequest
    ) async throws -> HTTPResponse {
        let reasons = request.query.filter { $0.name == "reason" }.map(\.value)
        guard reasons.count == 1, let reason = reasons.first, ["dismissed", "ended"].contains(reason) else {
            throw RequestRefused.invalid("reason", "the reason is missing or unknown", expected: "dismissed or ended")
        }
        let session = try Identifier.checkIfPresent(
            request.query.first { $0.name == "sessionID" }?.value, at: "sessionID")
        return try await change(userID) { user, now in
            if reason == "dismissed" {
                user.dismiss(activity, on: device, session: session, at: now)
            } else {
                user.end(activity, on: device, session: session, at: now)
            }
        }
    }

    private func reconcile(
        _ userID: String, _ device: String, _ body: RequestBody.Running
    ) async throws -> HTTPResponse {
        let running = try body.checked()
        let (end, committed) = try await store.change(userID) { user, now in
            user.reconcile(running: running, on: device, at: now)
        }
        await outbox.follow(committed)
        return .json(200, Array(try JSONEncoder().encode(["end": end])))
    }

    private func showUser(_ userID: String, _ caller: Caller) async throws -> HTTPResponse {
        guard caller == .backend else { throw RequestRefused.backendOnly }
        guard let user = try await store.user(userID) else { throw RequestRefused.notFound }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return .json(200, Array(try encoder.encode(UserView(user))))
    }

    private func eraseUser(_ userID: String, _ caller: Caller) async throws -> HTTPResponse {
        guard caller == .backend else { throw RequestRefused.backendOnly }
        let (isKnown, committed) = try await store.erase(userID)
        guard isKnown else { throw RequestRefused.notFound }
        await outbox.follow(committed)
        log.info("user erased")
        return HTTPResponse(status: 204)
    }

    private func change(
        _ userID: String, claiming claim: Claim = .nothing,
        _ change: @escaping @Sendable (inout User, Timestamp) -> Void
    ) async throws -> HTTPResponse {
        let (_, committed) = try await store.change(userID, claiming: claim, change)
        await outbox.follow(committed)
        return HTTPResponse(status: 204)
    }

    private func body<Body: Decodable>(of request: HTTPRequest) throws(RequestRefused) -> Body {
        guard request.body.count <= RequestBody.mostBytes else { throw .tooLarge }
        let type = request.header("Content-Type")?.split(separator: ";").first?.lowercased()
        guard type == nil || type == "application/json" else { throw .unsupportedType }
        return try RequestBody.decode(Body.self, from: request.body)
    }
}
