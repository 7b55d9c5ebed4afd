import AMQP
import Foundation
import HTTPServer
import RegistryClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

/// The whole service against a real broker and a real Redis.
@Suite(.serialized) struct BrokerTests {
    static let partitions = 2
    let log = Log(service: "test", level: .error) { _ in }

    /// A running registry, and what another service would see of it.
    struct Running: Sendable {
        let registry: Registry
        let connection: RegistryConnection
        let publisher: AMQPPublisher
        let events: Locked<[InboundEvent]>
        let server: RabbitMQServer

        func call(_ method: String, _ target: String, _ body: String? = nil) async throws -> Int {
            let request = try #require(
                HTTPRequest(
                    method: method, target: target, headers: [("Authorization", "Bearer \(Bench.backendKey)")],
                    body: Array((body ?? "").utf8)))
            return await registry.api.respond(to: request).status
        }

        func send(_ command: RegistryCommand) async throws {
            let event = CloudEvent(
                id: UUID().uuidString, source: "test", type: command.type, time: Timestamp(Date()), traceparent: nil,
                data: command)
            try await publisher.publish(
                AMQPMessage(id: event.id, type: event.type, body: try event.encoded()),
                exchange: Topology.registryExchange, routingKey: Topology.commandsRoutingKey)
        }
    }

    func withRunning<R: Sendable>(_ body: @escaping @Sendable (Running) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { folder in
            try write("an hash key of the tests", to: "\(folder)/hash")
            try write("k1:\(Data(repeating: 7, count: 32).base64EncodedString())", to: "\(folder)/data")
            let definitions = try Topology(partitions: Self.partitions).definitions(vhost: "/")
            return try await PrivateRabbitMQ.with(definitions: String(decoding: definitions, as: UTF8.self)) { server in
                try await PrivateRedis.with { redis in
                    try await run(environment(folder, server, redis), server, body)
                }
            }
        }
    }

    private func run<R: Sendable>(
        _ environment: [String: String], _ server: RabbitMQServer,
        _ body: @escaping @Sendable (Running) async throws -> R
    ) async throws -> R {
        var reader = Settings(environment)
        let settings = RegistrySettings(&reader)
        try reader.finish()
        let broker = try #require(settings.broker)
        let registry = try await Registry.open(settings, log, Metrics())
        let connection = try RegistryConnection(
            broker, redisURL: settings.redisURL, keys: try #require(settings.keys), service: "test", log: log,
            metrics: Metrics())
        let publisher = AMQPPublisher(broker, name: "test/publish", log: log, metrics: Metrics())
        let consumer = AMQPConsumer(broker, name: "test/consume", log: log, metrics: Metrics())
        publisher.start()
        consumer.start()
        let events = Locked<[InboundEvent]>([])
        let result: Result<R, any Error>
        let work = Task { await registry.run() }
        do {
            try await registry.connect(within: .seconds(30))
            try await connection.start(within: .seconds(30))
            try await publisher.waitUntilReady(within: .seconds(30))
            for partition in 0..<Self.partitions {
                _ = consumer.consume(
                    queue: Stage.inbound.queue(partition), prefetch: 10,
                    onDelivery: { delivery in
                        // What cannot be read is missed by the test that waits for it.
                        if let event = try? CloudEvent<InboundEvent>(decoding: delivery.message.body).data {
                            events.withLock { $0.append(event) }
                        }
                        delivery.acknowledge()
                    })
            }
            result = .success(
                try await body(
                    Running(
                        registry: registry, connection: connection, publisher: publisher, events: events,
                        server: server)))
        } catch { result = .failure(error) }
        work.cancel()
        await work.value
        await consumer.close()
        await publisher.close()
        await connection.close()
        await registry.close()
        return try result.get()
    }

    private func environment(_ folder: String, _ server: RabbitMQServer, _ redis: PrivateRedis) -> [String: String] {
        [
            "AMQP_URL": server.amqpURL, "REDIS_URL": redis.url, "DATABASE_URL": "sqlite:\(folder)/registry.sqlite",
            "HASH_KEY_FILE": "\(folder)/hash", "DATA_KEY_FILES": "\(folder)/data",
            "REGISTRY_BACKEND_KEYS": Bench.backendKey, "PARTITIONS": "\(Self.partitions)",
        ]
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test func `registrations, look-ups, starts, commands and events go over the broker`() async throws {
        try await withRunning { running in
            let client = running.connection.client
            let handle = "+12025559876"
            #expect(try await client.lookup(handle) == .unknown(handle))
            #expect(try await running.call("PUT", "/v1/users/sam/handles", #"{"handles":["\#(handle)"]}"#) == 204)
            #expect(
                try await running.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa")) == 204)
            #expect(try await client.lookup(handle).userID == "sam")
            let start = RegistryStart(
                userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1", generation: 0)
            #expect(try await client.requestStart(start).isGranted)
            #expect(try await client.requestStart(start).isGranted == false)
            #expect(try await client.lookup(handle).devices.flatMap(\.activities).map(\.state) == [.starting])
            try await running.send(.startRefused(start))
            try await eventually("the fence is lifted") {
                try await client.lookup(handle).devices.flatMap(\.activities).isEmpty
            }
            #expect(try await client.requestStart(start).isGranted)
            #expect(
                try await running.call(
                    "PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb", session: "s1")) == 204)
            #expect(try await client.lookup(handle).devices.flatMap(\.activities).map(\.state) == [.live])
            try await running.send(
                .activityEnded(
                    .init(userID: "sam", deviceID: "phone", attributesType: "Coach", token: token("bb"))))
            try await eventually("the card is known to have ended") {
                try await client.lookup(handle).devices.flatMap(\.activities).map(\.state) == [.ended]
            }
            try await eventually("all events have come") { running.events.withLock { $0.count } == 3 }
            let types = running.events.withLock { $0.map(\.type) }
            #expect(
                types == [
                    "isthmus.identity.changed.v1", "isthmus.island.reachable.v1", "isthmus.island.reachable.v1",
                ])
        }
    }

    @Test func `what happens while the broker is away is made up for when it is back`() async throws {
        try await withRunning { running in
            try await running.server.stop()
            try await eventually("the registry is not ready") { !running.registry.reasonsNotReady.isEmpty }
            #expect(
                try await running.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#) == 204)
            try await running.server.start()
            try await eventually("the event has come") {
                running.events.withLock { $0.count } >= 1
            }
            try await eventually("a look-up is answered") {
                try await running.connection.client.lookup(fresh: "+12025559876").userID == "sam"
            }
            try await eventually("the registry is ready") { running.registry.reasonsNotReady.isEmpty }
        }
    }

    @Test func `a command that cannot be read does not hold up the next one`() async throws {
        try await withRunning { running in
            try await running.publisher.publish(
                AMQPMessage(id: "x", type: "isthmus.registry.other.v9", body: Array("{}".utf8)),
                exchange: Topology.registryExchange, routingKey: Topology.commandsRoutingKey)
            _ = try await running.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            _ = try await running.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            try await running.send(
                .environmentLearned(.init(userID: "sam", token: token("aa"), environment: .sandbox)))
            try await eventually("the next command is stored") {
                try await running.connection.client.lookup("+12025559876").devices.flatMap(\.startTokens)
                    .map(\.environment) == [.sandbox]
            }
        }
    }

    @Test func `settings that do not fit together are named, all of them`() {
        var reader = Settings(["REGISTRY_JWT_KEYS_FILE": "/nowhere", "REGISTRY_BACKEND_KEYS": "short"])
        _ = RegistrySettings(&reader)
        let problems = reader.problems.joined(separator: "\n")
        for name in ["AMQP_URL", "HASH_KEY_FILE", "DATA_KEY_FILES", "REGISTRY_BACKEND_KEYS", "REGISTRY_JWT_AUDIENCE"] {
            #expect(problems.contains(name))
        }
        #expect(!problems.contains("short\""))
        var nobody = Settings([:])
        _ = RegistrySettings(&nobody)
        #expect(nobody.problems.contains { $0.contains("nobody can call") })
    }
}
