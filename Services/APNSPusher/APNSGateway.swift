import HTTP2
import Runtime
import Shared

/// The connections to Apple's two APNs.
final class APNSGateway: Sendable {
    /// How long APNs may take to answer.
    private static let timeout = Duration.seconds(15)

    private let production: HTTP2Client
    private let sandbox: HTTP2Client
    private let providerToken: ProviderToken
    private let clock: WallClock
    private let metrics: Metrics
    private let skew: ClockSkew

    init(
        _ addresses: APNSAddresses, caFile: String?, providerToken: ProviderToken, clock: WallClock, log: Log,
        metrics: Metrics
    ) throws {
        var options = HTTP2Client.Options()
        // With a JWT, APNs allows one stream until it has accepted a push on the connection.
        options.startsWithOneStream = true
        func client(_ environment: APNSEnvironment) throws -> HTTP2Client {
            try HTTP2Client(
                host: addresses[environment].host, port: addresses[environment].port, caFile: caFile, options: options,
                name: environment.rawValue, log: log, metrics: metrics)
        }
        production = try client(.production)
        sandbox = try client(.sandbox)
        self.providerToken = providerToken
        self.clock = clock
        self.metrics = metrics
        skew = ClockSkew(clock: clock, log: log, metrics: metrics)
    }

    /// Sends one push and waits for its answer.
    ///
    /// - Throws: `HTTP2Error` when there was none.
    func send(_ push: PushRequest, to environment: APNSEnvironment) async throws -> APNSAnswer {
        let client = environment == .production ? production : sandbox
        let request = push.http2(providerToken: try providerToken.current())
        let response = try await client.send(request, within: Self.timeout)
        skew.note(response.header("date"))
        let answer = APNSAnswer(
            status: response.status, retryAfter: response.header("retry-after"),
            body: response.body, now: Timestamp(clock.now))
        metrics.counter(
            "isthmus_apns_responses_total", "APNs' answers.",
            ["status": "\(answer.status)", "reason": Self.label(answer.reason), "environment": environment.rawValue]
        ).increment()
        return answer
    }

    func close() async {
        await production.close()
        await sandbox.close()
    }

    /// A reason comes from outside: only a plain word becomes a label.
    private static func label(_ reason: String) -> String {
        reason.utf8.count <= 40 && reason.allSatisfy { $0.isASCII && $0.isLetter } ? reason : "other"
    }
}
