import Crypto
@preconcurrency import Dispatch
import Foundation
import HTTP2
import Runtime
import Shared

/// What the stand-in for APNs does wrong on demand, for the next pushes.
enum APNSFault: String, Sendable, CaseIterable, Codable {
    /// 429, the token has had too many.
    case tooManyRequests = "too-many-requests"
    case error = "error"
    case unavailable = "unavailable"
    case shutdown = "shutdown"
    /// 410 with the time of now.
    case gone = "gone"
    /// 410 with a time long before the token was registered.
    case goneLongAgo = "gone-long-ago"
    case badDeviceToken = "bad-device-token"
    case expiredProviderToken = "expired-provider-token"
    /// GOAWAY after this push was answered.
    case goAway = "go-away"
    /// No answer at all; the push is not taken.
    case hang = "hang"
    /// Ends the stream without taking the push.
    case reset = "reset"
    /// Takes the push and ends the stream without an answer.
    case resetAfterAccepting = "reset-after-accepting"
    /// Refuses the stream, which says that nothing was done.
    case refuseStream = "refuse-stream"
}

/// The stand-in for APNs: checks pushes as Apple does and hands the good ones to the phones.
final class APNSEnd: Sendable {
    /// Pushes that are remembered for the page.
    static let memory = 300
    /// Milliseconds that the answer to a connection's first push takes.
    static let firstAnswerDelay = 5
    /// Pushes that are held without an answer at once, for the fault of that name.
    static let mostHeld = 1000

    /// A push and what became of it.
    struct Record: Sendable, Encodable {
        let at: Timestamp
        let apnsID: String
        /// The end of the token.
        let token: String
        let event: String
        let priority: Int?
        let bytes: Int
        let status: Int
        let reason: String?

        /// What APNs has answered, in a sentence.
        var words: String {
            let what = "APNs answers the \(event) \(status)"
            switch reason {
            case nil: return what
            case "Unregistered"?, "ExpiredToken"?: return "\(what) \(reason ?? ""): the token is dead"
            case let reason?: return "\(what) \(reason)"
            }
        }
    }

    struct Figures: Sendable, Encodable, Equatable {
        var requests = 0
        var accepted = 0
        /// Pushes that were sent on a connection before the answer to its first one: APNs allows one stream until then.
        var early = 0
        var byEvent: [String: Int] = [:]
        var refused: [String: Int] = [:]
    }

    private struct State {
        var tokens: ProviderTokens
        var figures = Figures()
        var recent: [Record] = []
        var held: [HTTP2ServerResponder] = []
        /// Connections with a first push on them: whether it was accepted yet.
        var connections: [Int: Bool] = [:]
    }

    /// HTTP/2's error codes (RFC 9113, 7).
    private enum ErrorCode {
        static let internalError: UInt32 = 2
        static let refusedStream: UInt32 = 7
    }

    let faults = FaultQueue<APNSFault>()
    private let state: Locked<State>
    private let phones: Phones
    private let topic: String
    private let environment: APNSEnvironment
    private let clock: WallClock
    private let trails: Trails
    private let queue = DispatchQueue(label: "apns first answers")
    private let server = Locked<HTTP2Server?>(nil)

    init(
        tokens: ProviderTokens, bundleID: String, environment: APNSEnvironment, phones: Phones, trails: Trails,
        clock: WallClock
    ) {
        state = Locked(State(tokens: tokens))
        topic = bundleID + PushRequest.topicSuffix
        self.environment = environment
        self.phones = phones
        self.trails = trails
        self.clock = clock
    }

    /// Begins to listen.
    func start(_ listen: ListenAddress, certificateFile: String, keyFile: String, log: Log) throws {
        let server = try HTTP2Server(listen: listen, certificateFile: certificateFile, keyFile: keyFile, log: log) {
            [weak self] request, responder in self?.handle(request, responder)
        }
        self.server.withLock { $0 = server }
    }

    var port: UInt16 { server.withLock { $0?.port ?? 0 } }

    var figures: Figures { state.withLock { $0.figures } }

    /// The last pushes to a user's phones, the newest last.
    func recent(tokenEnds: Set<String>?) -> [Record] {
        state.withLock { state in
            guard let tokenEnds else { return state.recent }
            return state.recent.filter { tokenEnds.contains($0.token) }
        }
    }

    func resetFigures() { state.withLock { $0.figures = Figures() } }

    /// Tells every connection to go, as APNs does when a server is taken out of service.
    func goAway() { server.withLock { $0 }?.goAway(reason: APNSRefusal.shutdown.body) }

    func close() async {
        state.withLock { $0.held = [] }
        await server.withLock { $0 }?.close()
    }

    // MARK: One push

    private func handle(_ request: HTTP2ServerRequest, _ responder: HTTP2ServerResponder) {
        let isFirst = isFirst(on: request.connectionID)
        let fault = faults.next()?.fault
        if let code = fault.flatMap(Self.resetCode) { return responder.reset(code) }
        if fault == .hang { return hold(responder) }
        var apnsID = UUID().uuidString.lowercased()
        var push: Push?
        let refusal: APNSRefusal?
        do throws(APNSRefusal) {
            if let id = try PushRequest.messageID(request.headers) { apnsID = id }
            if let fault, let failure = failure(of: fault) { throw failure }
            push = try check(request, apnsID)
            refusal = nil
        } catch {
            refusal = error
        }
        note(request, apnsID, push, refusal)
        var headers: [(name: String, value: String)] = [("apns-id", apnsID)]
        if environment == .sandbox { headers.append(("apns-unique-id", UUID().uuidString.lowercased())) }
        if let push { phones.deliver(push) }
        if fault == .resetAfterAccepting { return responder.reset(ErrorCode.internalError) }
        let answer: @Sendable () -> Void = { [headers, refusal] in
            responder.respond(status: refusal?.status ?? 200, headers: headers, body: refusal?.body ?? [])
            if fault == .goAway { self.goAway() }
        }
        if isFirst {
            // Late enough for a sender that does not wait for this answer to be found out.
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.firstAnswerDelay)) { [refusal] in
                if refusal == nil { self.state.withLock { $0.connections[request.connectionID] = true } }
                answer()
            }
        } else {
            answer()
        }
    }

    /// Whether this is the first push of its connection.
    private func isFirst(on connection: Int) -> Bool {
        state.withLock { state in
            switch state.connections[connection] {
            case true?: return false
            case false?:
                state.figures.early += 1
                return false
            case nil:
                if state.connections.count > Self.memory { state.connections = [:] }
                state.connections[connection] = false
                return true
            }
        }
    }

    private func check(_ request: HTTP2ServerRequest, _ apnsID: String) throws(APNSRefusal) -> Push {
        let authorization = request.headers.first { $0.name == "authorization" }?.value
        let now = clock.seconds
        try state.withLock { state throws(APNSRefusal) in
            try state.tokens.check(authorization, connection: request.connectionID, at: now)
        }
        let checked = try PushRequest(
            method: request.method, path: request.path, headers: request.headers, body: request.body)
        switch phones.standing(of: checked.token) {
        // Whether the key may push to the topic is looked at before the token is.
        case .unknown: throw checked.topic == topic ? .badDeviceToken : .topicDisallowed
        case .dead(let death, let since): throw .gone(death, since: since)
        case .alive(let environment) where environment != self.environment: throw .badDeviceToken
        case .alive: break
        }
        guard checked.topic == topic else { throw .deviceTokenNotForTopic }
        return Push(
            apnsID: apnsID, token: checked.token, body: request.body, priority: checked.priority,
            expiration: checked.expiration)
    }

    private static func resetCode(_ fault: APNSFault) -> UInt32? {
        switch fault {
        case .reset: ErrorCode.internalError
        case .refuseStream: ErrorCode.refusedStream
        default: nil
        }
    }

    private func failure(of fault: APNSFault) -> APNSRefusal? {
        switch fault {
        case .tooManyRequests: .tooManyRequests
        case .error: .internalServerError
        case .unavailable: .serviceUnavailable
        case .shutdown: .shutdown
        case .gone: .gone(.unregistered, since: clock.now)
        case .goneLongAgo: .gone(.unregistered, since: clock.now.addingTimeInterval(-86400))
        case .badDeviceToken: .badDeviceToken
        case .expiredProviderToken: .expiredProviderToken
        case .goAway, .hang, .reset, .resetAfterAccepting, .refuseStream: nil
        }
    }

    private func note(_ request: HTTP2ServerRequest, _ apnsID: String, _ push: Push?, _ refusal: APNSRefusal?) {
        let event = JSONSlice.value(at: ["aps", "event"], in: request.body).map { String(decoding: $0, as: UTF8.self) }
        let name = event?.filter { $0 != "\"" } ?? "-"
        let record = Record(
            at: Timestamp(clock.now), apnsID: apnsID, token: tokenEnd(request.path), event: name,
            priority: push?.priority, bytes: request.body.count, status: refusal?.status ?? 200, reason: refusal?.reason
        )
        let traceparent = request.headers.first { $0.name == "traceparent" }?.value
        trails.add(
            Hop(.pushed, refusal == nil ? .good : .bad, record.words, message: request.body), push: apnsID,
            traceID: Trails.traceID(inHeader: traceparent),
            subject: phones.owner(ofToken: request.path.split(separator: "/").last.map(String.init) ?? ""),
            title: "A push that no text has caused: \(name)")
        state.withLock { state in
            state.figures.requests += 1
            if let refusal {
                state.figures.refused[refusal.reason, default: 0] += 1
            } else {
                state.figures.accepted += 1
                state.figures.byEvent[name, default: 0] += 1
            }
            state.recent.append(record)
            if state.recent.count > Self.memory { state.recent.removeFirst(Self.memory / 10) }
        }
    }

    private func hold(_ responder: HTTP2ServerResponder) {
        state.withLock { state in
            if state.held.count >= Self.mostHeld { state.held.removeFirst() }
            state.held.append(responder)
        }
    }
}

/// The last characters of a token: enough to tell tokens apart on a page, too little to use one.
func tokenEnd(_ token: String) -> String { String(token.suffix(8)) }
