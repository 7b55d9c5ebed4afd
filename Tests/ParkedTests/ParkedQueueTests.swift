import AMQP
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Parked

/// The commands against a real broker, one test after the other.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ParkedQueueTests {
    private static let partitions = 2

    /// The broker with our topology and nothing in its queues, and a connection of each kind.
    private func withBroker(_ body: (RabbitMQServer, AMQPPublisher, AMQPConsumer) async throws -> Void) async throws {
        let topology = Topology(partitions: Self.partitions)
        let server = try await PrivateRabbitMQ.shared(
            "parked", definitions: String(decoding: try topology.definitions(vhost: "/"), as: UTF8.self))
        let endpoint = try AMQPEndpoint(url: server.amqpURL)
        let log = Log(service: "parked-tests", level: .error)
        let publisher = AMQPPublisher(endpoint, name: "tests/publish", log: log, metrics: Metrics())
        let consumer = AMQPConsumer(endpoint, name: "tests/consume", log: log, metrics: Metrics())
        publisher.start()
        consumer.start()
        let result: Result<Void, any Error>
        do {
            try await publisher.waitUntilReady(within: .seconds(30))
            try await consumer.waitUntilReady(within: .seconds(30))
            for queue in topology.queues { try await empty(queue.name, consumer) }
            result = .success(try await body(server, publisher, consumer))
        } catch { result = .failure(error) }
        await consumer.close()
        await publisher.close()
        try result.get()
    }

    private func empty(_ queue: String, _ consumer: AMQPConsumer) async throws {
        let waiting = try await consumer.count(of: queue)
        guard waiting > 0 else { return }
        let taken = Locked(0)
        let subscription = consumer.consume(queue: queue, prefetch: 100) { delivery in
            delivery.acknowledge()
            taken.withLock { $0 += 1 }
        }
        // Not until the queue has none: what is on its way here would go back when the consumer ends.
        try await eventually("\(queue) is empty") { taken.withLock { $0 } == waiting }
        await subscription.close()
    }

    /// Runs a command as from the command line; returns its answer.
    @discardableResult
    private func run(_ server: RabbitMQServer, _ arguments: String..., now: Int64 = 10_000) async throws -> AnyJSON {
        let command = try #require(try ParkedCommand.parse(arguments + ["--json"]))
        let queues = ParkedQueues(
            try AMQPEndpoint(url: server.amqpURL), log: Log(service: "isthmus-parked", level: .error))
        let result: Result<ParkedReport, any Error>
        do {
            try await queues.start()
            result = .success(try await ParkedWork(queues: queues, command: command, now: now).run())
        } catch { result = .failure(error) }
        await queues.close()
        return try #require(AnyJSON(parsing: try result.get().text.utf8))
    }

    private func ids(_ answer: AnyJSON) -> [String] {
        (answer["messages"]?.elements ?? []).compactMap { $0["id"]?.text }
    }

    private func park(
        _ ids: [String], in stage: Stage = .inbound, partition: Int = 1, reason: String = "the agent failed",
        at time: Int64 = 1000, to publisher: AMQPPublisher
    ) async throws {
        for id in ids {
            let message = AMQPMessage(
                id: id, type: "isthmus.message.received.v1", timestamp: time,
                contentType: "application/cloudevents+json",
                headers: [
                    "traceparent": "00-1-2-01", ParkedHeader.reason: reason, ParkedHeader.service: "agent",
                    ParkedHeader.queue: stage.queue(partition),
                ],
                body: Array(#"{"data":{"handle":"+12025550123","text":"\#(id)"}}"#.utf8))
            try await publisher.publish(message, exchange: Topology.parkedExchange, routingKey: stage.rawValue)
        }
    }

    @Test func `to look changes neither the messages nor their order, however often`() async throws {
        try await withBroker { server, publisher, _ in
            // More than 32, since the broker forgets the order of more in one refusal.
            let sent = (0..<120).map { "m-\($0)" }
            try await park(sent, to: publisher)
            for _ in 0..<3 {
                #expect(try await ids(run(server, "list")) == sent)
                #expect(try await ids(run(server, "show", "--limit", "40", "--stage", "inbound")) == Array(sent[..<40]))
                #expect(try await ids(run(server, "replay", "--all", "--dry-run")) == sent)
            }
            let shown = try await run(server, "show", "--id", "m-7")
            let message = try #require(shown["messages"]?.elements?.first)
            #expect(message["body"]?["data"]?["handle"] == .string("(phone number)"))
            #expect(message["reason"] == .string("the agent failed"))
            #expect(message["origin"] == .string("inbound.v1.01"))
            #expect(message["ageSeconds"] == .integer(9000))
            let open = try await run(server, "show", "--id", "m-7", "--with-handles")
            #expect(
                open["messages"]?.elements?.first?["body"]?["data"]?["handle"] == .string("+12025550123"))
        }
    }

    @Test func `messages are chosen by stage, reason, id and age`() async throws {
        try await withBroker { server, publisher, _ in
            try await park(["old"], at: 1000, to: publisher)
            try await park(["new"], reason: "Cannot be decoded: x", at: 9990, to: publisher)
            try await park(["reply"], in: .replies, reason: "expired", at: 5000, to: publisher)
            #expect(try await ids(run(server, "list")) == ["old", "new", "reply"])
            #expect(try await ids(run(server, "list", "--stage", "replies")) == ["reply"])
            #expect(try await ids(run(server, "list", "--reason", "cannot be DECODED")) == ["new"])
            #expect(try await ids(run(server, "list", "--id", "reply", "--id", "old")) == ["old", "reply"])
            #expect(try await ids(run(server, "list", "--older-than", "1h")) == ["old", "reply"])
            #expect(try await ids(run(server, "list", "--newer-than", "1m")) == ["new"])
            #expect(try await ids(run(server, "list", "--limit", "2")) == ["old", "new"])
        }
    }

    @Test func `replay puts a message back as it was, and drop throws it away`() async throws {
        try await withBroker { server, publisher, consumer in
            try await park(["a", "b", "c"], to: publisher)
            #expect(try await ids(run(server, "replay", "--id", "b")) == ["b"])
            #expect(try await ids(run(server, "list")) == ["a", "c"])
            // Said once more, nothing is left to do.
            #expect(try await ids(run(server, "replay", "--id", "b")).isEmpty)
            #expect(try await ids(run(server, "drop", "--id", "a")) == ["a"])
            #expect(try await ids(run(server, "list")) == ["c"])
            let back = Locked<[AMQPDelivery]>([])
            _ = consumer.consume(queue: Stage.inbound.queue(1), prefetch: 10) { delivery in
                back.withLock { $0.append(delivery) }
                delivery.acknowledge()
            }
            try await eventually("it is back") { back.withLock { $0.count } == 1 }
            let message = try #require(back.withLock { $0.first }).message
            #expect(message.id == "b")
            #expect(message.type == "isthmus.message.received.v1")
            #expect(message.timestamp == 1000)
            #expect(message.contentType == "application/cloudevents+json")
            #expect(message.headers == ["traceparent": "00-1-2-01", ParkedHeader.replayedAt: "10000"])
            #expect(message.persistent)
            #expect(message.body == Array(#"{"data":{"handle":"+12025550123","text":"b"}}"#.utf8))
        }
    }

    @Test func `what the broker has put aside goes back, too, and a command to the registry`() async throws {
        try await withBroker { server, publisher, consumer in
            let reply = AMQPMessage(id: "r", type: "isthmus.reply.requested.v1", timestamp: 1000, body: [])
            try await publisher.publish(reply, exchange: Stage.replies.exchange, routingKey: "00")
            let command = AMQPMessage(id: "c", type: "isthmus.registry.command.v1", timestamp: 1000, body: [])
            try await publisher.publish(
                command, exchange: Topology.registryExchange, routingKey: Topology.commandsRoutingKey)
            let refusals = [Stage.replies.queue(0), Topology.commandsQueue].map {
                consumer.consume(queue: $0, prefetch: 1) { $0.reject() }
            }
            try await eventually("both are parked") { try await ids(run(server, "list")) == ["r", "c"] }
            let listed = try await run(server, "list")["messages"]?.elements ?? []
            #expect(listed.map { $0["origin"] } == [.string("replies.v1.00"), .string("registry.v1.commands")])
            #expect(listed.allSatisfy { $0["reason"] == .string("refused by the service: its log says why") })
            for refusal in refusals { await refusal.close() }
            try await run(server, "replay", "--all")
            #expect(try await ids(run(server, "list")).isEmpty)
            // In the end: the broker may give them to those that have refused them before it sees that they are gone.
            try await eventually("both are back") {
                let replies = try await consumer.count(of: Stage.replies.queue(0))
                let commands = try await consumer.count(of: Topology.commandsQueue)
                return replies == 1 && commands == 1
            }
        }
    }

    @Test func `a webhook that nobody could read stays, and says why`() async throws {
        try await withBroker { server, publisher, _ in
            let webhook = AMQPMessage(
                id: "w", type: "linq.webhook.unreadable", timestamp: 1000,
                headers: [ParkedHeader.reason: "not JSON", ParkedHeader.service: "ingress"], body: Array("?".utf8))
            try await publisher.publish(
                webhook, exchange: Topology.parkedExchange, routingKey: Stage.inbound.rawValue)
            let answer = try await run(server, "replay", "--all")["messages"]?.elements?.first
            #expect(answer?["failed"] == .bool(true))
            #expect(answer?["outcome"] == .string("stays: it has not come from a queue"))
            #expect(try await ids(run(server, "list")) == ["w"])
        }
    }

    @Test func `a message that no queue takes stays parked`() async throws {
        try await withBroker { server, publisher, _ in
            try await park(["a"], partition: 7, to: publisher)
            let answer = try await run(server, "replay", "--all")["messages"]?.elements?.first
            #expect(answer?["failed"] == .bool(true))
            #expect(try await ids(run(server, "list")) == ["a"])
        }
    }
}
