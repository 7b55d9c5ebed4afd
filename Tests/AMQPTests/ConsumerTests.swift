import AMQP
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@Suite struct ConsumerTests {
    @Test func `a message comes back as it was sent`() async throws {
        let fixtures = try await Fixtures.shared()
        let sent = AMQPMessage(
            id: "id-ü", type: "com.example.text.v1", timestamp: 1_750_000_000,
            contentType: "application/cloudevents+json",
            headers: ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "grüße": "你好 👋🏽\u{0}"],
            replyTo: "somewhere", correlationID: "c-1", expiration: .seconds(60), persistent: false,
            body: Array("{\"text\":\"smörgås 🥪\"}".utf8))
        let large = AMQPMessage(id: "large", body: (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let empty = AMQPMessage(id: "empty", contentType: "", body: [])
        try await fixtures.withPublisher { publisher in
            for message in [sent, large, empty] { try await publisher.publish(message, to: .roundTrip) }
        }
        try await fixtures.withConsumer { consumer in
            let deliveries = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: TestQueue.roundTrip.name, prefetch: 10) { delivery in
                deliveries.append(delivery)
                delivery.acknowledge()
            }
            try await eventually("all arrive") { deliveries.count == 3 }
            #expect(deliveries.all.map(\.message) == [sent, large, empty])
            let first = try #require(deliveries.all.first)
            #expect(first.exchange == TestQueue.exchange)
            #expect(first.routingKey == TestQueue.roundTrip.key)
            #expect(first.queue == TestQueue.roundTrip.name)
            #expect(!first.redelivered)
            #expect(first.deliveryCount == 0)
        }
    }

    @Test func `a message carries the trace that it was published in`() async throws {
        let fixtures = try await Fixtures.shared()
        let traces = [
            Trace.resume("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", state: "one=1", tracer: nil),
            Trace.resume("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-00", tracer: nil), nil,
        ]
        try await fixtures.withPublisher { publisher in
            for (number, trace) in traces.enumerated() {
                try await Trace.$current.withValue(trace) {
                    try await publisher.publish(message(number), to: .traced)
                }
            }
        }
        try await fixtures.withConsumer { consumer in
            let deliveries = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: TestQueue.traced.name, prefetch: 10) { delivery in
                deliveries.append(delivery)
                delivery.acknowledge()
            }
            try await eventually("all arrive") { deliveries.count == traces.count }
            #expect(deliveries.all.map { $0.trace(nil)?.context } == traces.map { $0?.context })
        }
    }

    @Test func `a queue keeps its order`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withPublisher { publisher in
            let results = Gathered<PublishError?>()
            for number in 0..<3000 { publisher.publish(message(number), to: .order) { results.append($0.error) } }
            try await fixtures.withConsumer { consumer in
                let ids = Gathered<String>()
                _ = consumer.consume(queue: TestQueue.order.name, prefetch: 64) { delivery in
                    ids.append(delivery.message.id)
                    delivery.acknowledge()
                }
                try await eventually("all arrive") { ids.count == 3000 }
                #expect(ids.all == (0..<3000).map { "m-\($0)" })
            }
            #expect(Set(results.all) == [nil])
        }
    }

    @Test func `a closed subscription hands back what is unacknowledged, in order`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withPublisher { publisher in
            for number in 0..<100 { try await publisher.publish(message(number), to: .handBack) }
        }
        try await fixtures.withConsumer { consumer in
            let first = Gathered<AMQPDelivery>()
            let ends = Gathered<String>()
            let subscription = consumer.consume(
                queue: TestQueue.handBack.name, prefetch: 50, onDelivery: { first.append($0) },
                onEnd: { ends.append($0) })
            try await eventually("the prefetch is full") { first.count == 50 }
            // Not one after the other, so that some are acknowledged singly and some at once.
            for delivery in first.all where (0..<20).contains(delivery.tag - 1) || delivery.tag % 5 == 0 {
                delivery.acknowledge()
                delivery.acknowledge()
            }
            await subscription.close()
            #expect(!subscription.isActive)
            let taken = first.count
            for delivery in first.all { delivery.acknowledge() }

            let acknowledged = Set(
                first.all.filter { $0.tag <= 20 || $0.tag % 5 == 0 && $0.tag <= 50 }.map(\.message.id))
            let expected = (0..<100).map { "m-\($0)" }.filter { !acknowledged.contains($0) }
            let second = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: TestQueue.handBack.name, prefetch: 200) { second.append($0) }
            try await eventually("the rest comes") { second.count >= expected.count }
            #expect(second.all.map(\.message.id) == expected)
            #expect(second.all.first?.redelivered == true)
            #expect(second.all.first?.deliveryCount == 1)
            #expect(first.count == taken)
            #expect(ends.all.isEmpty)
            for delivery in second.all { delivery.acknowledge() }
            await consumer.close()
        }
        try await eventually("nothing is left") { try await fixtures.depth(.handBack) == 0 }
    }

    @Test func `acknowledgements given before closing the consumer count`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withPublisher { publisher in
            for number in 0..<200 { try await publisher.publish(message(number), to: .closing) }
        }
        try await fixtures.withConsumer { consumer in
            let deliveries = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: TestQueue.closing.name, prefetch: 500) { deliveries.append($0) }
            try await eventually("all arrive") { deliveries.count == 200 }
            for delivery in deliveries.all { delivery.acknowledge() }
        }
        try await eventually("nothing is left") { try await fixtures.depth(.closing) == 0 }
    }

    @Test func `a rejected message is dead-lettered to the stage's parked queue`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withPublisher { publisher in
            for number in 0..<10 {
                try await publisher.publish(
                    message(number), exchange: Stage.replies.exchange, routingKey: Partition.name(1))
            }
        }
        try await fixtures.withConsumer { consumer in
            let parked = Gathered<AMQPDelivery>()
            let deliveries = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: Stage.replies.parkedQueue, prefetch: 10) { delivery in
                parked.append(delivery)
                delivery.acknowledge()
            }
            _ = consumer.consume(queue: Stage.replies.queue(1), prefetch: 10) { deliveries.append($0) }
            try await eventually("all arrive") { deliveries.count == 10 }
            for delivery in deliveries.all {
                if delivery.message.id == "m-3" { delivery.reject() } else { delivery.acknowledge() }
            }
            try await eventually("it is parked") { parked.count == 1 }
            #expect(parked.all.map(\.message.id) == ["m-3"])
        }
        try await eventually("nothing is left") { try await fixtures.depth(queue: Stage.replies.queue(1)) == 0 }
    }

    @Test func `the prefetch bounds what is handed out`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withPublisher { publisher in
            for number in 0..<30 { try await publisher.publish(message(number), to: .prefetch) }
        }
        try await fixtures.withConsumer { consumer in
            let deliveries = Gathered<AMQPDelivery>()
            _ = consumer.consume(queue: TestQueue.prefetch.name, prefetch: 7) { deliveries.append($0) }
            var acknowledged = 0
            while acknowledged < 30 {
                let expected = min(acknowledged + 7, 30)
                try await eventually("the prefetch is full") { deliveries.count == expected }
                deliveries.all[acknowledged].acknowledge()
                acknowledged += 1
            }
            #expect(deliveries.all.map(\.message.id) == (0..<30).map { "m-\($0)" })
        }
    }

    @Test func `every exclusive listener hears what is broadcast`() async throws {
        let fixtures = try await Fixtures.shared()
        let exchange = Stage.islands.presenceExchange
        try await fixtures.withConsumer { one in
            try await fixtures.withConsumer { other in
                let heard = [Gathered<String>(), Gathered<String>()]
                let subscriptions = zip([one, other], heard).map { consumer, heard in
                    consumer.consumeExclusive(boundTo: exchange, queueNamePrefix: "presence.v1.islands.") { delivery in
                        heard.append(delivery.message.id)
                        delivery.acknowledge()
                    }
                }
                try await eventually("both listen") { subscriptions.allSatisfy(\.isActive) }
                try await fixtures.withPublisher { publisher in
                    for number in 0..<20 {
                        try await publisher.publish(message(number), exchange: exchange, routingKey: "")
                    }
                }
                try await eventually("both hear all") { heard.allSatisfy { $0.count == 20 } }
                await subscriptions[0].close()
                try await eventually("the queue of the one that left is gone") {
                    let queues = try await fixtures.server.ctl(["-q", "list_queues", "name"])
                    return queues.split(separator: "\n").count { $0.hasPrefix("presence.v1.islands.") } == 1
                }
            }
        }
    }

    @Test func `an exclusive queue that cannot be bound is tried again without leaving more behind`() async throws {
        let fixtures = try await Fixtures.shared()
        let refusals = Gathered<String>()
        let log = Log(service: "amqp-tests", level: .warning) { refusals.append($0) }
        let consumer = AMQPConsumer(
            try fixtures.endpoint, name: "tests/1/consume", options: fixtures.options, log: log,
            metrics: fixtures.metrics)
        consumer.start()
        try await closing(consumer.close) {
            let subscription = consumer.consumeExclusive(
                boundTo: "nowhere.v1", queueNamePrefix: "presence.v1.nowhere."
            ) { _ in }
            try await eventually("it was tried three times") { refusals.count >= 3 }
            #expect(refusals.all.allSatisfy { $0.contains("nowhere.v1") })
            #expect(!subscription.isActive)
            #expect(consumer.state == .ready)
            let queues = try await fixtures.server.ctl(["-q", "list_queues", "name"])
            #expect(queues.split(separator: "\n").count { $0.hasPrefix("presence.v1.nowhere.") } == 1)
        }
    }

    @Test func `many subscriptions can be opened and closed on one connection`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withConsumer { consumer in
            for _ in 0..<20 {
                let subscriptions = TestQueue.allCases.filter { $0 == .late || $0 == .stale }.map {
                    consumer.consume(queue: $0.name, prefetch: 5) { $0.acknowledge() }
                }
                try await eventually("all are active") { subscriptions.allSatisfy(\.isActive) }
                for subscription in subscriptions { await subscription.close() }
            }
        }
    }

    @Test func `a subscription of a consumer that was never started can be closed`() async throws {
        let fixtures = try await Fixtures.shared()
        let consumer = AMQPConsumer(
            try fixtures.endpoint, name: "tests/1/consume", log: fixtures.log, metrics: fixtures.metrics)
        let subscription = consumer.consume(queue: "any", prefetch: 1) { _ in }
        await consumer.close()
        await subscription.close()
        #expect(consumer.state == .closed)
    }
}
