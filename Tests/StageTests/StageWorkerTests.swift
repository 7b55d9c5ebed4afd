import AMQP
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Stage

/// Several replicas of a stage on a real broker.
@Suite struct `Stage worker` {
    private static let partitions = 8

    /// What all replicas together have worked, in the order of its end.
    private final class Journal: Sendable {
        struct Entry: Sendable, Equatable {
            let replica: String
            let chat: String
            let number: Int
        }

        private let entries = Locked<[Entry]>([])
        private let inHand = Locked<[String: Int]>([:])
        let overlaps = Locked(0)

        func begin(_ chat: String) {
            let count = inHand.withLock { inHand in
                inHand[chat, default: 0] += 1
                return inHand[chat, default: 0]
            }
            if count > 1 { overlaps.withLock { $0 += 1 } }
        }

        func end(_ entry: Entry) {
            inHand.withLock { $0[entry.chat, default: 0] -= 1 }
            entries.withLock { $0.append(entry) }
        }

        var all: [Entry] { entries.withLock { $0 } }

        /// The numbers of each chat, each counted when it was first worked.
        var firsts: [String: [Int]] {
            var found: [String: [Int]] = [:]
            for entry in all where !(found[entry.chat] ?? []).contains(entry.number) {
                found[entry.chat, default: []].append(entry.number)
            }
            return found
        }
    }

    private final class Replica: Sendable {
        let worker: StageWorker<CloudEvent<ReplyRequest>>
        let connections: StageConnections
        let metrics = Metrics()
        private let running: Task<Void, Never>

        init(
            _ name: String, _ server: RabbitMQServer,
            _ handle: @escaping @Sendable (CloudEvent<ReplyRequest>) async -> Verdict
        ) async throws {
            let log = Log(service: name, level: .error)
            connections = StageConnections(
                try AMQPEndpoint(url: server.amqpURL), service: name, works: .replies, partitions: partitions, log: log,
                metrics: metrics)
            try await connections.start()
            let job = StageJob<CloudEvent<ReplyRequest>>(
                stage: .replies, prefetch: 16,
                decode: { body in
                    let event = try CloudEvent<ReplyRequest>(decoding: body)
                    return (event.data.chat.id, event)
                }, handle: { item in await handle(item.event) })
            let worker = StageWorker(
                job, partitions: partitions, instance: name, consumer: connections.consumer,
                publisher: connections.publisher, log: log, metrics: metrics)
            self.worker = worker
            running = Task { await worker.run() }
        }

        /// Ends as after SIGTERM.
        func leave() async {
            worker.stop()
            await running.value
            await connections.close()
        }
    }

    private func definitions() throws -> String {
        String(decoding: try Topology(partitions: Self.partitions).definitions(vhost: "/"), as: UTF8.self)
    }

    private func publish(_ count: Int, chats: Int, to publisher: AMQPPublisher, from first: Int = 0) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for chat in 0..<chats {
                group.addTask {
                    for number in first..<first + count {
                        let reply = ReplyRequest(
                            chat: Chat(id: "chat-\(chat)", isGroup: false), to: "+15550000000",
                            idempotencyKey: "\(chat).\(number)", parts: [MessagePart(type: "text", value: "\(number)")],
                            receivedAt: nil, expiresAt: Timestamp(millisecondsSince1970: 0))
                        let event = CloudEvent(
                            id: "\(chat).\(number)", source: "test", type: ReplyRequest.type,
                            time: Timestamp(millisecondsSince1970: 0), traceparent: nil, data: reply)
                        let message = AMQPMessage(id: event.id, type: event.type, body: try event.encoded())
                        let partition = Partition.of(reply.chat.id, among: Self.partitions)
                        try await publisher.publish(
                            message, exchange: Stage.replies.exchange, routingKey: Partition.name(partition))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func number(_ event: CloudEvent<ReplyRequest>) -> Int { Int(event.data.parts[0].value ?? "") ?? -1 }

    @Test(.timeLimit(.minutes(3)))
    func `replicas share the partitions, hand them over in order, and two never work one chat`() async throws {
        try await PrivateRabbitMQ.with(definitions: try definitions()) { server in
            let journal = Journal()
            func replica(_ name: String) async throws -> Replica {
                try await Replica(name, server) { event in
                    let chat = event.data.chat.id
                    journal.begin(chat)
                    // Long enough that messages are in hand whenever a partition changes hands.
                    do { try await Task.sleep(for: .milliseconds(2)) } catch { return .handBack(retryAfter: .zero) }
                    journal.end(Journal.Entry(replica: name, chat: chat, number: number(event)))
                    return .done
                }
            }
            let first = try await replica("first")
            let publisher = first.connections.publisher
            try await eventually("the only replica works everything") { first.worker.owned.count == Self.partitions }
            // Each change of replicas meets a quarter of the messages.
            async let firstQuarter: Void = publish(25, chats: 20, to: publisher)
            let second = try await replica("second")
            try await eventually("two share evenly") {
                first.worker.owned.count == 4 && second.worker.owned.count == 4
            }
            try await firstQuarter
            async let secondQuarter: Void = publish(25, chats: 20, to: publisher, from: 25)
            let third = try await replica("third")
            try await eventually("three share evenly") {
                [first, second, third].allSatisfy { (2...3).contains($0.worker.owned.count) }
            }
            try await secondQuarter
            async let thirdQuarter: Void = publish(25, chats: 20, to: publisher, from: 50)
            await second.leave()
            try await thirdQuarter
            try await eventually("the others have taken over") {
                first.worker.owned.count == 4 && third.worker.owned.count == 4
            }
            try await publish(25, chats: 20, to: publisher, from: 75)
            try await eventually("everything is worked") {
                journal.firsts.values.map(\.count).reduce(0, +) == 2000
            }
            await first.leave()
            await third.leave()
            for (chat, numbers) in journal.firsts { #expect(numbers == Array(0..<100), "order of \(chat)") }
            #expect(journal.overlaps.withLock { $0 } == 0)
            // Nobody was killed and nothing failed: no message was worked twice.
            #expect(journal.all.count == 2000)
            #expect(Set(journal.all.map(\.replica)) == ["first", "second", "third"])
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `what cannot be decoded or never worked is parked with its reason, the rest goes on`() async throws {
        try await PrivateRabbitMQ.with(definitions: try definitions()) { server in
            let worked = Locked<[Int]>([])
            let replica = try await Replica("only", server) { event in
                guard number(event) != 1 else { return .park(reason: "never valid") }
                worked.withLock { $0.append(number(event)) }
                return .done
            }
            let publisher = replica.connections.publisher
            try await publisher.publish(
                AMQPMessage(id: "rubbish", body: Array("{\"specversion\":\"1.0\"".utf8)),
                exchange: Stage.replies.exchange, routingKey: "00")
            try await publish(3, chats: 1, to: publisher)
            try await eventually("the valid ones are worked") { worked.withLock { $0 } == [0, 2] }

            let parked = Locked<[String: String]>([:])
            let subscription = replica.connections.consumer.consume(
                queue: Stage.replies.parkedQueue, prefetch: 10,
                onDelivery: { delivery in
                    parked.withLock { $0[delivery.message.id] = delivery.message.headers["isthmus-reason"] }
                }, onEnd: { _ in })
            try await eventually("both are parked") { parked.withLock { $0.count } == 2 }
            #expect(parked.withLock { $0["0.1"] } == "never valid")
            #expect(parked.withLock { $0["rubbish"] }?.hasPrefix("cannot be decoded") == true)
            await subscription.close()
            await replica.leave()
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a partition that is handed back rests and is then worked in order`() async throws {
        try await PrivateRabbitMQ.with(definitions: try definitions()) { server in
            let refusals = Locked(3)
            let worked = Locked<[Int]>([])
            let replica = try await Replica("only", server) { event in
                if number(event) == 2,
                    refusals.withLock({ left in
                        defer { left -= 1 }; return left > 0
                    })
                {
                    return .handBack(retryAfter: .milliseconds(50))
                }
                worked.withLock { $0.append(number(event)) }
                return .done
            }
            try await publish(6, chats: 1, to: replica.connections.publisher)
            try await eventually("all are worked") { worked.withLock { $0.count } == 6 }
            #expect(worked.withLock { $0 } == [0, 1, 2, 3, 4, 5])
            await replica.leave()
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a message that takes long holds up its own partition, and no change of the others`() async throws {
        let slow = Partition.of("chat-0", among: Self.partitions)
        // A name by which the partition of the slow message falls to the newcomer.
        let newcomer = try #require(
            (0..<100).map { "second-\($0)" }.first { name in
                PartitionAssignment.partitions(of: name, among: ["first", name], count: Self.partitions).contains(slow)
            })
        try await PrivateRabbitMQ.with(definitions: try definitions()) { server in
            let isBegun = StopSignal()
            let mayEnd = StopSignal()
            let first = try await Replica("first", server) { _ in
                isBegun.fire()
                _ = await mayEnd.sleep(for: .seconds(300))
                return .done
            }
            try await publish(1, chats: 1, to: first.connections.publisher)
            try await eventually("the message is in hand") { isBegun.isFired }
            let second = try await Replica(newcomer, server) { _ in .done }
            try await eventually("the newcomer has its half") {
                first.worker.owned.count == 4 && second.worker.owned.count == 4
            }
            await second.leave()
            try await eventually("all but the slow one are back") {
                first.worker.owned == (0..<Self.partitions).filter { $0 != slow }
            }
            #expect(first.metrics.render().contains("isthmus_stage_in_flight{stage=\"replies\"} 1"))
            mayEnd.fire()
            try await eventually("the slow one, too") { first.worker.owned.count == Self.partitions }
            #expect(first.metrics.render().contains("isthmus_stage_oldest_age_seconds{stage=\"replies\"} 0"))
            await first.leave()
        }
    }
}
