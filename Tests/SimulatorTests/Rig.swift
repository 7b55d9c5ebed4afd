import Crypto
import Foundation
import HTTP2
import HTTPClient
import HTTPServer
import Runtime
import Shared
import TestSupport

@testable import Simulator

/// A running simulator, and a server that stands where ingress and registry would be.
struct Rig: Sendable {
    static let team = "TEAM123456"
    static let keyID = "KEY1234567"
    static let bundleID = "com.example.coach"
    static let linqToken = "linq-token"
    static let webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE="

    let server: SimulatorServer
    let services: Services
    let http: HTTPClient
    let http2: HTTP2Client
    let directory: String

    /// Runs `body` with a fresh rig and takes it down whatever happens.
    static func with<R>(
        environment: [String: String] = [:], _ body: (Rig) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            try PreparedFiles.write(to: directory)
            let log = Log(service: "test", level: .error)
            let services = try Services(log: log)
            var variables = [
                "SIMULATOR_DIRECTORY": directory, "LINQ_API_TOKEN": linqToken, "LINQ_WEBHOOK_SECRETS": webhookSecret,
                "APNS_TEAM_ID": team, "APNS_KEY_ID": keyID, "APNS_BUNDLE_ID": bundleID,
                "SIMULATOR_INGRESS_URL": "http://127.0.0.1:\(services.port)/webhook",
                "SIMULATOR_REGISTRY_URL": "http://127.0.0.1:\(services.port)", "SIMULATOR_BACKEND_KEY": "backend",
                "SIMULATOR_ATTRIBUTES_TYPES": "CoachAttributes",
            ]
            variables.merge(environment) { _, new in new }
            var settings = Settings(variables)
            let config = SimulatorConfig(&settings)
            try settings.finish()
            let server = try SimulatorServer(config, log: log, metrics: Metrics())
            let http = HTTPClient(userAgent: "test", log: log)
            var options = HTTP2Client.Options()
            options.startsWithOneStream = true
            let http2 = try HTTP2Client(
                host: "localhost", port: server.apnsPort, caFile: "\(directory)/ca.pem", options: options, name: "test",
                log: log, metrics: Metrics())
            let rig = Rig(server: server, services: services, http: http, http2: http2, directory: directory)
            let result: Result<R, any Error>
            do { result = .success(try await body(rig)) } catch { result = .failure(error) }
            await http2.close()
            await http.close()
            await server.close()
            services.close()
            return try result.get()
        }
    }

    // MARK: HTTP

    struct Answer {
        let status: Int
        let json: JSONValue
        let response: HTTPClientResponse
    }

    func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        try await send(method, "/control" + path, body, headers: [])
    }

    func linq(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String = Rig.linqToken,
        headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        try await send(
            method, "/api/partner/v3" + path, body, headers: [("Authorization", "Bearer \(token)")] + headers)
    }

    func send(
        _ method: String, _ path: String, _ body: JSONValue?, headers: [(name: String, value: String)],
        within limit: Duration = .seconds(30)
    ) async throws -> Answer {
        let request = HTTPClientRequest(
            method, "http://127.0.0.1:\(server.port)\(path)", headers: headers, body: Array((body?.text ?? "").utf8))
        let response = try await http.send(request, within: limit)
        // A body that is no JSON is for the test to look at.
        let json = (try? JSONValue(parsing: response.body)) ?? .null
        return Answer(status: response.status, json: json, response: response)
    }

    // MARK: APNs

    func providerToken(
        issuedAt: JSONValue? = nil, team: String = Rig.team, keyID: String = Rig.keyID, key: ES256PrivateKey? = nil
    ) throws -> String {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = [
            "iss": .string(team), "iat": issuedAt ?? .integer(Int64(Date().timeIntervalSince1970)),
        ]
        let key = try key ?? ES256PrivateKey(pem: String(contentsOfFile: "\(directory)/apns-key.p8", encoding: .utf8))
        let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// A push with good headers, some of them changed or (for `nil`) left out.
    func push(
        _ body: String, to token: String, _ changes: [String: String?] = [:], method: String = "POST",
        path: String? = nil
    ) async throws -> HTTP2Response {
        try await http2.send(pushRequest(body, to: token, changes, method: method, path: path), within: .seconds(30))
    }

    func pushRequest(
        _ body: String, to token: String, _ changes: [String: String?] = [:], method: String = "POST",
        path: String? = nil
    ) throws -> HTTP2Request {
        var headers: [String: String] = [
            "apns-topic": Self.bundleID + ".push-type.liveactivity", "apns-push-type": "liveactivity",
            "apns-priority": "10", "apns-expiration": "0",
        ]
        if changes["authorization"] == nil { headers["authorization"] = "bearer \(try Self.cachedToken(self))" }
        for (name, value) in changes { headers[name] = value }
        return HTTP2Request(
            method: method, path: path ?? "/3/device/\(token)", headers: headers.map { ($0.key, $0.value) },
            body: Array(body.utf8))
    }

    private static let tokens = Locked<[String: String]>([:])

    /// One token a rig, as a sender has.
    private static func cachedToken(_ rig: Rig) throws -> String {
        if let token = tokens.withLock({ $0[rig.directory] }) { return token }
        let token = try rig.providerToken()
        tokens.withLock { $0[rig.directory] = token }
        return token
    }

    static func start(_ calories: Int, session: String = "session-1", timestamp: Int64? = nil) -> String {
        """
        {"aps":{"timestamp":\(timestamp ?? Int64(Date().timeIntervalSince1970)),"event":"start",\
        "attributes-type":"CoachAttributes","attributes":{"userID":"u","sessionID":"\(session)"},\
        "alert":{"title":"t","body":"b"},"content-state":\(state(calories))}}
        """
    }

    static func update(_ calories: Int, timestamp: Int64? = nil) -> String {
        """
        {"aps":{"timestamp":\(timestamp ?? Int64(Date().timeIntervalSince1970)),"event":"update",\
        "content-state":\(state(calories))}}
        """
    }

    private static func state(_ calories: Int) -> String {
        #"{"calories":\#(calories),"goal":2100,"streak":1,"lastMeal":"Soup"}"#
    }

    /// The user's phone as the state shows it.
    func phone(of user: String) async throws -> JSONValue {
        let state = try await control("GET", "/state?user=" + user.pathSegment).json
        return state["phones"]?.array?.first ?? .null
    }
}

/// Where ingress and registry would be: notes every request and answers as it is told.
final class Services: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
        let body: [UInt8]
        let headers: [(name: String, value: String)]

        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    }

    let port: UInt16
    private let server: HTTPServer
    private let state: Locked<State>

    private struct State {
        var requests: [Request] = []
        var statuses: [Int] = []
        var refusesRegistrations = false
        var onWebhook: (@Sendable (Request) async -> Void)?
        var tasks: [Task<Void, Never>] = []

        /// Notes a request and says how to answer it.
        mutating func take(_ request: Request) -> (status: Int, action: (@Sendable (Request) async -> Void)?) {
            requests.append(request)
            guard request.path == "/webhook" else { return (refusesRegistrations ? 401 : 200, nil) }
            return (statuses.isEmpty ? 200 : statuses.removeFirst(), onWebhook)
        }
    }

    init(log: Log) throws {
        let state = Locked(State())
        self.state = state
        server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "services", log: log, metrics: Metrics()
        ) { request, responder in
            let noted = Request(
                method: request.method, path: request.path, body: request.body, headers: request.headers)
            let (status, action) = state.withLock { $0.take(noted) }
            if status == 0 { return responder.abort() }
            responder.respond(.json(status, Array("{}".utf8)))
            if let action { state.withLock { $0.tasks.append(Task { await action(noted) }) } }
        }
        port = server.port
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var webhooks: [Request] { requests.filter { $0.path == "/webhook" } }

    /// The next webhooks are answered with these statuses (0: the connection is closed), later ones with 200.
    func answer(_ statuses: [Int]) { state.withLock { $0.statuses = statuses } }

    /// Whether whatever is not a webhook is answered with 401.
    func refuseRegistrations(_ refuses: Bool) { state.withLock { $0.refusesRegistrations = refuses } }

    /// What an agent behind the webhook does.
    func onWebhook(_ action: @escaping @Sendable (Request) async -> Void) { state.withLock { $0.onWebhook = action } }

    func close() {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
        server.close()
    }
}
