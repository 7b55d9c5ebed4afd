import APNSClient
import HTTP2
import Runtime
import Shared

/// The connections to Apple's two APNs.
final class APNSGateway: Sendable {
    /// How long APNs may take to answer.
    private static let timeout = Duration.seconds(15)

    private let production: HTTP2Client
    private let sandbox: HTTP2Client
    private let addresses: APNSAddresses
    private let clock: WallClock
    private let log: Log
    private let metrics: Metrics
    private let strange = StrangeReasons()
    private let skew: ClockSkew
    private let accepted: [APNSEnvironment: Counter]

    init(
        _ addresses: APNSAddresses, caFile: String?, clock: WallClock, log: Log, metrics: Metrics
    ) throws {
        var options = HTTP2Client.Options()
        // With a JWT, APNs allows one stream until it has accepted a push on the connection.
        options.startsWithOneStream = true
        options.isLast = { $0.status != 200 && APNSAnswer($0, now: Timestamp(clock.now)).meaning == .newConnection }
        func client(_ environment: APNSEnvironment) throws -> HTTP2Client {
            try HTTP2Client(
                host: addresses[environment].host, port: addresses[environment].port, caFile: caFile, options: options,
                name: environment.rawValue, log: log, metrics: metrics)
        }
        production = try client(.production)
        sandbox = try client(.sandbox)
        self.addresses = addresses
        self.clock = clock
        self.log = log
        self.metrics = metrics
        skew = ClockSkew(clock: clock, log: log, metrics: metrics)
        var accepted: [APNSEnvironment: Counter] = [:]
        for environment in APNSEnvironment.allCases {
            accepted[environment] = Self.responses(200, "", environment, metrics)
            for (status, reason) in Self.watched { _ = Self.responses(status, reason, environment, metrics) }
        }
        self.accepted = accepted
    }

    /// Sends one push and waits for its answer.
    ///
    /// - Parameter providerToken: The JWT that says who pushes.
    func send(
        _ push: PushRequest, to environment: APNSEnvironment, as providerToken: String
    ) async throws(HTTP2Error) -> APNSAnswer {
        let client = environment == .production ? production : sandbox
        let span = span(environment)
        let response: HTTP2Response
        do { response = try await client.send(push.http2(providerToken: providerToken), within: Self.timeout) } catch {
            span?.end(error: error.outcome == .unknown ? "unknown_outcome" : "not_processed")
            throw error
        }
        skew.note(response.header("date"))
        let answer = APNSAnswer(response, now: Timestamp(clock.now))
        span?.end(
            ["http.response.status_code": .integer(answer.status)],
            error: answer.meaning == .accepted
                ? nil : answer.reason.isEmpty ? "\(answer.status)" : Self.label(answer.reason))
        warn(of: answer)
        count(answer, environment)
        return answer
    }

    /// A span of one push; the path is its template, since the token is in it.
    private func span(_ environment: APNSEnvironment) -> Span? {
        let template = "/3/device/{token}"
        return Trace.current?.span(
            "POST \(template)", .client,
            [
                "http.request.method": "POST", "url.template": .text(template), "network.protocol.version": "2",
                "server.address": .text(addresses[environment].host),
                "server.port": .integer(Int(addresses[environment].port)),
                "isthmus.apns.environment": .text(environment.rawValue),
            ])
    }

    /// Tells a person what only they can do something about.
    private func warn(of answer: APNSAnswer) {
        if answer.meaning == .denied {
            log.error(
                "APNs denies access: are APNS_TEAM_ID, APNS_KEY_ID and the key right?", ["reason": answer.reason])
        } else if answer.reason == APNSAnswer.tooManyTokens {
            log.error("APNs got another JWT too soon: does somebody else push with this key?")
        } else if strange.isNews(answer) {
            log.error(
                "APNs gave a reason that is not known; it is treated by its status",
                ["status": "\(answer.status)", "reason": String(answer.reason.prefix(80))])
        }
    }

    func close() async {
        await production.close()
        await sandbox.close()
    }

    /// The answers that somebody is to be told of at the first one: a counter that begins with 1 has not grown.
    private static let watched = [
        (410, "Unregistered"), (410, "ExpiredToken"), (429, "TooManyRequests"),
        (429, "TooManyProviderTokenUpdates"), (403, "InvalidProviderToken"), (403, "ExpiredProviderToken"),
    ]

    private func count(_ answer: APNSAnswer, _ environment: APNSEnvironment) {
        // Nearly all: not looked up by their labels each time.
        if answer.status == 200, answer.reason.isEmpty, let counter = accepted[environment] {
            counter.increment()
        } else {
            Self.responses(answer.status, answer.reason, environment, metrics).increment()
        }
    }

    private static func responses(
        _ status: Int, _ reason: String, _ environment: APNSEnvironment, _ metrics: Metrics
    ) -> Counter {
        metrics.counter(
            "isthmus_apns_responses_total", "APNs' answers.",
            ["status": "\(status)", "reason": label(reason), "environment": environment.rawValue])
    }

    /// A reason comes from outside: only a plain word becomes a label.
    private static func label(_ reason: String) -> String {
        reason.utf8.count <= 40 && reason.allSatisfy { $0.isASCII && $0.isLetter } ? reason : "other"
    }
}
