import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Runtime
import Shared

/// The simulator, running: Linq, APNs, phones, page and controls in one process.
final class SimulatorServer: Sendable {
    let world: World
    private let hub: EventHub
    private let load: Load
    private let http: HTTPClient
    private let server: HTTPServer
    private let clockwork: Task<Void, Never>

    /// The port of page, controls and Linq's API.
    var port: UInt16 { server.port }
    var apnsPort: UInt16 { world.apns.port }

    /// Starts everything.
    init(_ config: SimulatorConfig, clock: WallClock = .system, log: Log, metrics: Metrics) throws {
        http = HTTPClient(maxConnectionsPerHost: 512, userAgent: "simulator", log: log)
        let relay = ChangeRelay()
        let world = try Self.makeWorld(config, http, relay, clock, log)
        self.world = world
        try world.apns.start(
            config.apnsListen, certificateFile: "\(config.directory)/server.pem",
            keyFile: "\(config.directory)/server-key.pem", log: log)
        let hub = EventHub { encodedJSON(PageView(of: $0, in: world)) }
        relay.set(world.phones) { subject in hub.touch(subject) }
        world.trails.onChange { relay.touch($0) }
        let queues = BrokerQueues(url: config.brokerURL, http: http)
        let load = Load(world)
        let router = Router(
            world: world, control: ControlAPI(world: world, load: load, hub: hub), hub: hub,
            collector: SpanCollector(trails: world.trails))
        var limits = HTTPServerLimits()
        limits.maxConnectionsPerAddress = nil
        limits.handlerTimeout = .seconds(60)
        limits.maxInFlight = 10_000
        limits.maxStreamBacklog = 4 << 20
        do {
            server = try HTTPServer(
                listen: config.listen, limits: limits, name: "simulator", log: log, metrics: metrics,
                handler: router.handle)
        } catch {
            // Nobody uses it: it ends when it goes.
            throw error
        }
        self.hub = hub
        self.load = load
        // Owned by this object: `close()` cancels it and waits for it.
        clockwork = Task {
            // Cancelled: the simulator stops.
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                world.phones.pass()
                hub.beat()
                if hub.hasViewers { hub.announce("queues", encodedJSON(await queues.depths())) }
            }
        }
    }

    private static func makeWorld(
        _ config: SimulatorConfig, _ http: HTTPClient, _ relay: ChangeRelay, _ clock: WallClock, _ log: Log
    ) throws -> World {
        func key(_ path: String) throws -> ES256PrivateKey {
            try ES256PrivateKey(pem: String(contentsOfFile: path, encoding: .utf8))
        }
        let signIn = SignIn(
            key: try key("\(config.directory)/sign-in-key.pem"), issuer: config.issuer, audience: config.audience,
            bundleID: config.bundleID, clock: clock)
        let app = AppClient(
            registryURL: config.registryURL, backendKey: config.backendKey, signIn: signIn, http: http, log: log)
        let trails = Trails()
        let phones = Phones(
            app: app,
            settings: PhoneSettings(environment: config.environment, attributesTypes: config.attributesTypes),
            trails: trails, clock: clock
        ) { relay.touch($0) }
        guard let secret = config.webhookSecrets.first, let signature = WebhookSignature(secret: secret.reveal()) else {
            throw SettingsProblem("LINQ_WEBHOOK_SECRETS: expected whsec_ and Base64")
        }
        let target = config.ingressURL.map {
            WebhookSender.Target(id: UUID().uuidString.lowercased(), url: $0, signature: signature)
        }
        let linq = LinqEnd(
            line: config.line, token: config.linqToken, subscriptions: Subscriptions(target),
            webhooks: WebhookSender(http: http, clock: clock, trails: trails), sendsReceipts: config.sendsReceipts,
            trails: trails, clock: clock
        ) { handles in for handle in handles { relay.touch(handle) } }
        let tokens = try ProviderTokens(
            teamID: config.teamID, keyID: config.keyID,
            key: try key(config.keyFile ?? "\(config.directory)/apns-key.p8"))
        let apns = APNSEnd(
            tokens: tokens, bundleID: config.bundleID, environment: config.environment, phones: phones,
            trails: trails, clock: clock)
        return World(
            linq: linq, apns: apns, phones: phones, app: app, trails: trails,
            supervisor: Supervisor(pipe: config.supervisor, agent: config.agent), environment: config.environment,
            onboards: config.onboards)
    }

    /// Stops everything; what is on its way is lost, as it may be.
    func close() async {
        clockwork.cancel()
        await clockwork.value
        server.stopAccepting()
        await load.close()
        await hub.close()
        await world.linq.close()
        await world.app.close()
        await server.drain(within: .seconds(2))
        server.close()
        await world.apns.close()
        await http.close()
    }
}

/// Carries word of changes to the hub, which comes into being after those that speak of changes.
final class ChangeRelay: Sendable {
    /// A tuple's function would be wrapped once more at each look at it under the lock.
    private struct Target {
        let phones: Phones
        let touch: @Sendable (String) -> Void
    }

    private let target = Locked<Target?>(nil)

    func set(_ phones: Phones, _ touch: @escaping @Sendable (String) -> Void) {
        target.withLock { $0 = Target(phones: phones, touch: touch) }
    }

    /// Something about a user or a handle has changed: a page may show it by any of the user's names.
    func touch(_ subject: String) {
        guard let target = target.withLock({ $0 }) else { return }
        let userID = target.phones.userID(of: subject) ?? subject
        for name in Set([subject, userID] + target.phones.handles(of: userID)) { target.touch(name) }
    }
}
