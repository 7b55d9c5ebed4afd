import Foundation
import HTTPServer
import Runtime
import Shared

/// The simulator's own API, for `./run say`, for tests and for the page.
///
/// JSON in, JSON out.
///
/// - `POST /control/texts`: somebody writes (`InboundText`) → 202 with the ids.
/// - `POST /control/say`: writes and waits for reply and Island (`Say.Request`) → 200, or 504 with what is missing.
/// - `GET /control/state?user=`: everything about a handle or a user (`StateView`); `GET /events?user=` the same, live.
/// - `GET /control/messages?chat=&before=`: earlier messages; `GET /control/trails/{id}/{hop}`: what a hop carried.
/// - `POST /control/kill`, `POST /control/agent`: asks whoever runs the services to kill one, or for another agent.
/// - `GET`, `POST /control/users`: the users; a new one with handles and phones.
/// - `POST /control/phones/{deviceID}/{event}`: dismiss, open, leave, force-quit, offline, online, reinstall,
///   rotate-tokens, ios17, ios18, start; `GET /control/phones/{deviceID}/tokens`: its tokens, for a push by hand.
/// - `POST`, `DELETE /control/faults`: what Linq or APNs does wrong next; `linq` for sends, `hints` for read and typing.
/// - `GET`, `DELETE /control/counts`: the figures.
/// - `POST`, `GET /control/load`: many texts of many people (`Load.Request`).
/// - `POST /control/clock`: `{"advanceSeconds": 3600}` moves the phones' clocks on, and with `CLOCK_FILE` those of all
///   services as well.
struct ControlAPI: Sendable {
    let world: World
    let load: Load
    let hub: EventHub

    /// Answers what is asked under `/control`.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        do {
            return try await route(request)
        } catch let wrong as BadRequest {
            return .problem(400, title: "Bad Request", detail: wrong.detail)
        } catch let error as DecodingError {
            return .problem(400, title: "Bad Request", detail: explain(error))
        } catch is Phones.NoSuchPhone {
            return .problem(404, title: "Not Found", detail: "there is no such phone")
        } catch is Supervisor.NotThere {
            return .problem(
                409, title: "Conflict", detail: "nobody is there who would start it again; ./run would be")
        } catch let missing as Say.Missing {
            return Self.answer(missing)
        } catch is WebhookSender.TooMany {
            return .problem(503, title: "Service Unavailable", detail: "too many webhooks are on their way")
        } catch let failed as AppClient.RegistrationFailed {
            return .problem(502, title: "Bad Gateway", detail: "\(failed)")
        } catch {
            return .problem(500, title: "Internal Server Error", detail: "\(error)")
        }
    }

    struct BadRequest: Error {
        let detail: String
    }

    private func route(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = Array(request.segments.dropFirst())
        switch (request.method, path.first ?? "", path.count) {
        case ("POST", "texts", 1): return try await post(request)
        case ("POST", "say", 1): return try await say(request)
        case ("GET", "state", 1): return try state(request)
        case ("GET", "users", 1): return .json(200, encodedJSON(world.phones.users))
        case ("POST", "users", 1): return try await addUser(request)
        case ("GET", "phones", 3) where path[2] == "tokens": return try tokens(of: path[1])
        case ("POST", "phones", 3): return try phone(path[1], path[2], request)
        case ("POST", "faults", 1): return try faults(request)
        case ("DELETE", "faults", 1):
            world.linq.faults.clear()
            world.linq.hintFaults.clear()
            world.apns.faults.clear()
            hub.touchAll()
            return .json(200, Array("{}".utf8))
        case ("GET", "counts", 1): return .json(200, encodedJSON(Counts(world)))
        case ("DELETE", "counts", 1):
            world.linq.book.withLock { $0.resetFigures() }
            world.linq.webhooks.resetFigures()
            world.apns.resetFigures()
            world.phones.resetFigures()
            return .json(200, Array("{}".utf8))
        case ("POST", "load", 1):
            let asked: Load.Request = try decoded(request)
            if let problem = asked.problem { throw BadRequest(detail: problem) }
            guard load.start(asked) else { return .problem(409, title: "Conflict", detail: "a load run is under way") }
            return .json(202, encodedJSON(load.progress))
        case ("GET", "load", 1): return .json(200, encodedJSON(load.progress))
        case ("POST", "clock", 1):
            struct Advance: Decodable { let advanceSeconds: Double }
            try world.advance(by: (try decoded(request) as Advance).advanceSeconds)
            return .json(200, encodedJSON(["now": Timestamp(world.phones.now)]))
        default: return try forPage(request, path) ?? .problem(404, title: "Not Found")
        }
    }

    func decoded<Value: Decodable>(_ request: HTTPRequest) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(request.body))
    }

    private func post(_ request: HTTPRequest) async throws -> HTTPResponse {
        let text: InboundText = try decoded(request)
        if let problem = text.problem { throw BadRequest(detail: problem) }
        return .json(202, encodedJSON(try await world.post(text)))
    }

    private func say(_ request: HTTPRequest) async throws -> HTTPResponse {
        let asked: Say.Request = try decoded(request)
        if let problem = InboundText(from: asked.from, text: asked.text, service: asked.service).problem {
            throw BadRequest(detail: problem)
        }
        return .json(200, encodedJSON(try await Say(world: world).run(asked)))
    }

    private static func answer(_ missing: Say.Missing) -> HTTPResponse {
        struct Body: Encodable {
            let missing: [String]
            let reply: String?
            let dropped: [String]
            let webhook: String
        }
        return .json(
            504,
            encodedJSON(
                Body(missing: missing.what, reply: missing.reply, dropped: missing.dropped, webhook: missing.webhook)))
    }

    private func state(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let user = request.query.first(where: { $0.name == "user" })?.value, !user.isEmpty else {
            throw BadRequest(detail: "which user? a handle or a user id")
        }
        return .json(200, encodedJSON(world.view(of: user)))
    }

    private func addUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        struct NewUser: Decodable {
            let userID: String
            let handles: [String]
            /// One phone for each; none if it is empty.
            var phones: [NewPhone]?
        }
        struct NewPhone: Decodable {
            let deviceID: String
            /// 17 or 18.
            var system: Int?
            var environment: APNSEnvironment?
            /// An IANA name.
            var timeZone: String?
            var locale: String?
        }
        let user: NewUser = try decoded(request)
        guard user.handles.allSatisfy(isHandle) else {
            throw BadRequest(detail: "handles must be numbers or addresses")
        }
        try await world.phones.addUser(user.userID, handles: user.handles)
        for phone in user.phones ?? [] {
            guard let system = VirtualPhone.System(rawValue: phone.system ?? 18) else {
                throw BadRequest(detail: "system must be 17 or 18")
            }
            var place = VirtualPhone.Place()
            if let name = phone.timeZone {
                guard let timeZone = TimeZone(identifier: name) else {
                    throw BadRequest(detail: "no time zone is called \(name)")
                }
                place.timeZone = timeZone
            }
            if let locale = phone.locale { place.locale = Locale(identifier: locale) }
            try await world.phones.addPhone(
                phone.deviceID, of: user.userID, system: system,
                environment: phone.environment ?? world.environment, place: place)
        }
        return .json(200, encodedJSON(world.view(of: user.userID)))
    }

    private func phone(_ deviceID: String, _ event: String, _ request: HTTPRequest) throws -> HTTPResponse {
        struct Details: Decodable {
            var activityID: String?
            var attributesType: String?
            var contentState: JSONValue?
        }
        let details: Details? = request.body.isEmpty ? nil : try decoded(request)
        try world.phones.perform(on: deviceID) { phone, now in
            switch event {
            case "dismiss": return (details?.activityID ?? phone.island?.activityID).map { phone.dismiss($0) } ?? []
            case "open": return phone.open()
            case "leave": return phone.leave()
            case "force-quit": return phone.forceQuit()
            case "offline": return phone.goOffline()
            case "online": return phone.goOnline(at: now)
            case "reinstall": return phone.reinstall()
            case "rotate-tokens": return phone.rotateTokens()
            case "ios17": return phone.install(.iOS17)
            case "ios18": return phone.install(.iOS18)
            case "start":
                let kind = try IslandKind.named(details?.attributesType ?? "CoachAttributes")
                let state = try details?.contentState.map { Array($0.text.utf8) } ?? kind.example()
                return try phone.startFromApp(kind, state: state, at: now)
            default: throw BadRequest(detail: "a phone cannot \(event)")
            }
        }
        let phone = world.phones.phone(deviceID)
        return .json(200, encodedJSON(phone.map { StateView.Phone($0, registrations: world.app.said(by: deviceID)) }))
    }

    /// Whole, for a push by hand; everywhere else they are cut short.
    private func tokens(of deviceID: String) throws -> HTTPResponse {
        struct Tokens: Encodable {
            let startTokens: [String: String]
            /// By activity.
            let updateTokens: [String: String]
        }
        guard let phone = world.phones.phone(deviceID) else { throw Phones.NoSuchPhone() }
        let cards = phone.cards.compactMap { card in card.token.map { (card.activityID, $0) } }
        return .json(
            200,
            encodedJSON(
                Tokens(startTokens: phone.startTokens, updateTokens: Dictionary(cards) { first, _ in first })))
    }

    private func faults(_ request: HTTPRequest) throws -> HTTPResponse {
        struct Fault: Decodable {
            var linq: LinqFault?
            var hints: LinqFault?
            var apns: APNSFault?
            /// Requests that get it; one if it is not said.
            var count: Int?
            var retryAfter: Int?
        }
        let fault: Fault = try decoded(request)
        guard fault.linq != nil || fault.hints != nil || fault.apns != nil else {
            throw BadRequest(detail: "linq, hints or apns must name a fault")
        }
        let count = fault.count ?? 1
        guard (1...1_000_000).contains(count) else { throw BadRequest(detail: "count must be 1 to 1000000") }
        if let linq = fault.linq { world.linq.faults.add(linq, count: count, retryAfter: fault.retryAfter ?? 1) }
        if let hints = fault.hints {
            world.linq.hintFaults.add(hints, count: count, retryAfter: fault.retryAfter ?? 1)
        }
        if let apns = fault.apns { world.apns.faults.add(apns, count: count, retryAfter: 0) }
        hub.touchAll()
        let waiting = [
            "linq": world.linq.faults.waiting, "hints": world.linq.hintFaults.waiting,
            "apns": world.apns.faults.waiting,
        ]
        return .json(200, encodedJSON(waiting))
    }
}
