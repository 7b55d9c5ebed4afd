import Foundation
import HTTPClient
import Runtime
import Shared

/// What the app on the phones, and the customer's backend, say to the registry over HTTP.
///
/// As an app would, it says things in order, one at a time for each device, and tries again until it is heard.
final class AppClient: Sendable {
    /// Tries of one call before the app gives it up.
    static let mostTries = 60
    /// Calls of a device that wait; later ones are forgotten, as if the app had no room for them.
    static let mostWaiting = 1000
    /// Calls of a device that are remembered for the page.
    static let memory = 50
    private static let timeout = Duration.seconds(5)

    /// Something said to the registry.
    struct Call: Sendable {
        let method: String
        /// With a leading slash, percent-encoded.
        let path: String
        let body: JSONValue?
        let speaker: Speaker
    }

    /// Who says it.
    ///
    /// The app's token is made anew for each try, since it does not live long.
    enum Speaker: Sendable {
        case backend
        case user(String, handles: [String])
    }

    /// How a call ended.
    struct Said: Sendable, Encodable {
        let at: Timestamp
        let method: String
        let path: String
        let status: Int?
        let tries: Int
    }

    private struct Outbox {
        var waiting: [(call: Call, onEnd: @Sendable ([String]) -> Void)] = []
        var speaker: Task<Void, Never>?
        var said: [Said] = []
    }

    private let registryURL: String?
    private let backendKey: Secret<String>
    private let signIn: SignIn
    private let http: HTTPClient
    private let log: Log
    private let outboxes = Locked<[String: Outbox]>([:])

    init(registryURL: String?, backendKey: Secret<String>, signIn: SignIn, http: HTTPClient, log: Log) {
        self.registryURL = registryURL
        self.backendKey = backendKey
        self.signIn = signIn
        self.http = http
        self.log = log
    }

    /// The customer's backend says which handles are a user's.
    ///
    /// Throws if the registry refuses it or stays away.
    func register(handles: [String], of userID: String) async throws {
        let call = Call(
            method: "PUT", path: "/v1/users/\(userID.pathSegment)/handles",
            body: ["handles": .array(handles.map(JSONValue.string))], speaker: .backend)
        guard registryURL != nil else { return }
        let (status, _, tries) = await send(call, tries: 5)
        guard let status, (200..<300).contains(status) else {
            throw RegistrationFailed(what: "the handles of \(userID)", status: status, tries: tries)
        }
    }

    struct RegistrationFailed: Error, CustomStringConvertible {
        let what: String
        let status: Int?
        let tries: Int

        var description: String {
            "the registry did not take \(what): \(status.map { "status \($0)" } ?? "no answer in \(tries) tries")"
        }
    }

    /// What the app says because of `action`; `nil` if that is nothing.
    func call(
        for action: PhoneAction, _ phone: VirtualPhone, handles: [String], _ environment: APNSEnvironment
    ) -> Call? {
        let device = "/v1/users/\(phone.userID.pathSegment)/devices/\(phone.deviceID.pathSegment)"
        func call(_ method: String, _ path: String, _ body: JSONValue?) -> Call {
            Call(method: method, path: device + path, body: body, speaker: .user(phone.userID, handles: handles))
        }
        switch action {
        case .registerStartToken(let type, let token):
            return call(
                "PUT", "/start-token",
                [
                    "attributesType": .string(type), "token": .string(token),
                    "environment": .string(environment.rawValue),
                    "bundleID": .string(signIn.bundleID), "wantsInputPushToken": .bool(phone.system == .iOS18),
                    "timeZone": .string(phone.place.timeZone.identifier),
                    "locale": .string(phone.place.locale.identifier),
                ])
        case .registerActivity(let activityID):
            guard let card = phone.cards.first(where: { $0.activityID == activityID }), let token = card.token else {
                return nil
            }
            var body: [String: JSONValue] = [
                "attributesType": .string(card.attributesType), "token": .string(token),
                "environment": .string(environment.rawValue), "bundleID": .string(signIn.bundleID),
                "startedAt": .string(Timestamp(card.startedAt).description),
            ]
            if let sessionID = card.sessionID { body["sessionID"] = .string(sessionID) }
            return call("PUT", "/activities/\(activityID.pathSegment)", .object(body))
        case .removeActivity(let activityID, let reason):
            return call("DELETE", "/activities/\(activityID.pathSegment)?reason=\(reason.rawValue)", nil)
        case .reconcile(let running):
            return call("PUT", "/activities", ["running": .array(running.map(JSONValue.string))])
        case .issued, .died: return nil
        }
    }

    /// Says it after all that this device has to say already.
    ///
    /// - Parameter onEnd: Called with the activities that the registry tells the app to end.
    func say(_ call: Call, by deviceID: String, onEnd: @escaping @Sendable ([String]) -> Void) {
        guard registryURL != nil else { return }
        outboxes.withLock { outboxes in
            guard outboxes[deviceID]?.waiting.count ?? 0 < Self.mostWaiting else { return }
            outboxes[deviceID, default: Outbox()].waiting.append((call, onEnd))
            guard outboxes[deviceID]?.speaker == nil else { return }
            // Owned by the outbox: it ends when everything is said, and `close()` cancels it.
            outboxes[deviceID]?.speaker = Task { await self.speak(for: deviceID) }
        }
    }

    private func speak(for deviceID: String) async {
        while let (call, onEnd) = next(of: deviceID) {
            let (status, body, tries) = await send(call, tries: Self.mostTries)
            note(
                Said(
                    at: Timestamp(WallClock.system.now), method: call.method, path: call.path, status: status,
                    tries: tries),
                deviceID)
            guard let status, (200..<300).contains(status) else {
                log.debug("the registry did not take what the app said", ["status": "\(status ?? 0)"])
                continue
            }
            struct Answer: Decodable { let end: [String]? }
            // Only the answer to a launch has this; every other answer may be anything.
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(body))
            if let ended = answer?.end, !ended.isEmpty { onEnd(ended) }
        }
    }

    private func next(of deviceID: String) -> (Call, @Sendable ([String]) -> Void)? {
        outboxes.withLock { outboxes in
            guard let first = outboxes[deviceID]?.waiting.first, !Task.isCancelled else {
                outboxes[deviceID]?.speaker = nil
                return nil
            }
            outboxes[deviceID]?.waiting.removeFirst()
            return (first.call, first.onEnd)
        }
    }

    private func note(_ said: Said, _ deviceID: String) {
        outboxes.withLock { outboxes in
            outboxes[deviceID]?.said.append(said)
            if outboxes[deviceID]?.said.count ?? 0 > Self.memory { outboxes[deviceID]?.said.removeFirst() }
        }
    }

    /// The status that was answered last, or `nil` if there was no answer at all.
    private func send(_ call: Call, tries: Int) async -> (status: Int?, body: [UInt8], tries: Int) {
        let backoff = Backoff(base: .milliseconds(200), cap: .seconds(5))
        var last: (Int?, [UInt8]) = (nil, [])
        for attempt in 1...tries {
            do {
                let response = try await http.send(request(call), within: Self.timeout)
                last = (response.status, response.body)
                if Self.isFinal(response.status, to: call.speaker) { return (last.0, last.1, attempt) }
            } catch {
                log.debug("the registry cannot be reached", ["error": "\(error)"])
            }
            // Cancelled: the simulator stops.
            guard attempt < tries, (try? await Task.sleep(for: backoff.delay(after: attempt))) != nil else {
                return (last.0, last.1, attempt)
            }
        }
        return (last.0, last.1, tries)
    }

    /// Whether it is of no use to say it again: the app's next token may be taken where this one was not.
    private static func isFinal(_ status: Int, to speaker: Speaker) -> Bool {
        if status == 401, case .user = speaker { return false }
        return status < 500 && status != 429 && status != 408
    }

    private func request(_ call: Call) -> HTTPClientRequest {
        let authorization =
            switch call.speaker {
            case .backend: backendKey.reveal()
            case .user(let userID, let handles): signIn.token(for: userID, handles: handles)
            }
        var headers: [(name: String, value: String)] = [("Authorization", "Bearer \(authorization)")]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        return HTTPClientRequest(
            call.method, (registryURL ?? "") + call.path, headers: headers, body: Array((call.body?.text ?? "").utf8))
    }

    /// The device's last calls, the newest last.
    func said(by deviceID: String) -> [Said] { outboxes.withLock { $0[deviceID]?.said ?? [] } }

    /// Returns when the device has nothing more to say, or the time is up.
    func waitUntilSaid(by deviceID: String, within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while outboxes.withLock({ $0[deviceID]?.speaker != nil }), ContinuousClock.now < end {
            // Cancelled: nobody waits any more.
            guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    func close() async {
        let speakers = outboxes.withLock { outboxes in
            for deviceID in outboxes.keys { outboxes[deviceID]?.waiting = [] }
            return outboxes.values.compactMap(\.speaker)
        }
        for speaker in speakers { speaker.cancel() }
        for speaker in speakers { await speaker.value }
    }
}

extension String {
    /// As one segment of a URL's path.
    var pathSegment: String {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        return addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? self
    }
}
