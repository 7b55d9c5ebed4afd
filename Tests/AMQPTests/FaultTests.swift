import AMQP
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

/// One at a time, over brokers that no other test uses: each breaks something, and mends it unless it fails.
@Suite(.serialized) struct FaultTests {
    @Test(.timeLimit(.minutes(3)))
    func `a broker killed and started again loses no confirmed message and costs no restart`() async throws {
        try await PrivateRabbitMQ.with(definitions: TestTopology.definitions) { server in
            let fixtures = Fixtures(server)
            let confirmed = Gathered<String>()
            let received = Gathered<String>()
            let ends = Gathered<String>()
            let isPublishing = Locked(true)
            try await fixtures.withConsumer { consumer in
                _ = consumer.consume(
                    queue: TestQueue.order.name, prefetch: 50,
                    onDelivery: { delivery in
                        received.append(delivery.message.id)
                        delivery.acknowledge()
                    }, onEnd: { ends.append($0) })
                try await fixtures.withPublisher(window: 64) { publisher in
                    async let published: Void = publishSteadily(publisher, while: isPublishing, confirmed)
                    for _ in 0..<2 {
                        let before = confirmed.count
                        try await eventually("messages flow") { confirmed.count > before + 500 }
                        try await fixtures.server.kill()
                        try await eventually("the loss is noticed") {
                            publisher.state != .ready && consumer.state != .ready
                        }
                        try await fixtures.server.start()
                        try await publisher.waitUntilReady(within: .seconds(30))
                        try await consumer.waitUntilReady(within: .seconds(30))
                    }
                    let before = confirmed.count
                    try await eventually("messages flow again") { confirmed.count > before + 500 }
                    isPublishing.withLock { $0 = false }
                    await published
                }
                try await eventually("every confirmed message arrives") {
                    Set(confirmed.all).isSubset(of: received.all)
                }
            }
            #expect(ends.count >= 2)
            // What came twice aside, the order of the messages is the order of their first coming.
            var seen: Set<String> = []
            let firsts = received.all.filter { seen.insert($0).inserted }.compactMap { Int($0.dropFirst(2)) }
            #expect(firsts == firsts.sorted())
        }
    }

    /// Publishes one message after the other's confirm, and again what had none.
    private func publishSteadily(
        _ publisher: AMQPPublisher, while isOn: Locked<Bool>, _ confirmed: Gathered<String>
    ) async {
        var number = 0
        while isOn.withLock({ $0 }) {
            do {
                try await publisher.publish(message(number), to: .order)
                confirmed.append("m-\(number)")
                number += 1
            } catch {
                try? await Task.sleep(for: .milliseconds(20))  // there is nothing to cancel this
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a broker that blocks is noticed, publishes fail at once, and it is noticed when it ends`() async throws {
        try await withBroker { fixtures in
            try await fixtures.withPublisher(confirmTimeout: .seconds(30)) { publisher in
                try await publisher.publish(message(0), to: .confirms)
                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.0001"])
                // The broker tells a connection only when it publishes.
                try await eventually("the block is noticed") {
                    publisher.publish(message(1), to: .confirms) { _ in }
                    if case .blocked = publisher.state { return true }
                    return false
                }
                let began = ContinuousClock.now
                await #expect(throws: PublishError.blocked) { try await publisher.publish(message(2), to: .confirms) }
                #expect(ContinuousClock.now - began < .seconds(15), "long before the deadline")
                #expect(fixtures.metrics.render().contains(#"isthmus_amqp_blocked{connection="publish"} 1"#))

                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.8"])
                try await publisher.waitUntilReady(within: .seconds(30))
                try await publisher.publish(message(3), to: .confirms)
                #expect(fixtures.metrics.render().contains(#"isthmus_amqp_blocked{connection="publish"} 0"#))
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `what is in flight when the broker blocks has its outcome at its deadline`() async throws {
        try await withBroker { fixtures in
            try await fixtures.withPublisher(confirmTimeout: .seconds(1)) { publisher in
                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.0001"])
                let outcomes = Gathered<PublishError?>()
                let began = ContinuousClock.now
                for number in 0..<100 {
                    publisher.publish(message(number), to: .confirms) { outcomes.append($0.error) }
                }
                try await eventually("all have their outcome") { outcomes.count == 100 }
                #expect(ContinuousClock.now - began < .seconds(15), "the deadline, and what a busy machine adds")
                #expect(Set(outcomes.all).isSubset(of: [.timedOut, .blocked]))
                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.8"])
                try await publisher.waitUntilReady(within: .seconds(30))
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a write that the broker does not read ends after the call's time limit`() async throws {
        try await withBroker { fixtures in
            var fixtures = fixtures
            fixtures.options.callTimeout = .seconds(1)
            try await fixtures.withPublisher(confirmTimeout: .seconds(3)) { publisher in
                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.0001"])
                let outcomes = Gathered<PublishError?>()
                // More than the sockets' buffers hold, before the broker can say that it blocks.
                for number in 0..<60 {
                    publisher.publish(message(number, size: 1 << 20), to: .late) { outcomes.append($0.error) }
                }
                try await eventually("all have their outcome") { outcomes.count == 60 }
                #expect(!outcomes.all.contains(nil))
                try await fixtures.server.ctl(["set_vm_memory_high_watermark", "0.8"])
                try await publisher.waitUntilReady(within: .seconds(30))
                try await publisher.publish(message(100), to: .late)
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a queue deleted under its consumer is noticed, and consumed again once it is back`() async throws {
        try await withBroker { fixtures in
            try await fixtures.withConsumer { consumer in
                let ends = Gathered<String>()
                let ids = Gathered<String>()
                let subscription = consumer.consume(
                    queue: TestQueue.stale.name, prefetch: 5,
                    onDelivery: { delivery in
                        ids.append(delivery.message.id)
                        delivery.acknowledge()
                    }, onEnd: { ends.append($0) })
                try await eventually("it is consumed") { subscription.isActive }
                try await fixtures.server.ctl(["delete_queue", TestQueue.stale.name])
                try await eventually("the deletion is noticed") { ends.count == 1 }
                #expect(!subscription.isActive)
                #expect(consumer.state == .ready)
                try await fixtures.server.ctl(
                    ["import_definitions", fixtures.server.directory + "/definitions.json"])
                try await eventually("it is consumed again") { subscription.isActive }
                try await fixtures.withPublisher { try await $0.publish(message(7), to: .stale) }
                try await eventually("a message arrives") { ids.all == ["m-7"] }
                #expect(ends.count == 1)
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `idle connections outlive their heartbeats`() async throws {
        try await withBroker { fixtures in
            var fixtures = fixtures
            fixtures.options.heartbeat = .seconds(2)
            try await fixtures.withPublisher { publisher in
                try await fixtures.withConsumer { consumer in
                    let ids = Gathered<String>()
                    _ = consumer.consume(queue: TestQueue.deadlines.name, prefetch: 5) { delivery in
                        ids.append(delivery.message.id)
                        delivery.acknowledge()
                    }
                    try await Task.sleep(for: .seconds(7))  // the point: three heartbeats long, nothing happens
                    try await publisher.publish(message(1), to: .deadlines)
                    try await eventually("it arrives") { ids.all == ["m-1"] }
                    let text = fixtures.metrics.render()
                    #expect(text.contains(#"isthmus_amqp_reconnects_total{connection="publish"} 0"#))
                    #expect(text.contains(#"isthmus_amqp_reconnects_total{connection="consume"} 0"#))
                    let connections = try await fixtures.server.ctl(["-q", "list_connections", "timeout"])
                    #expect(connections.split(separator: "\n").filter { $0 != "timeout" } == ["2", "2"])
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a topology that is completed later is found`() async throws {
        try await withBroker { fixtures in
            try await fixtures.server.ctl(["delete_queue", "inbound.v1.00"])
            let publisher = AMQPPublisher(
                try fixtures.endpoint, name: "tests/1/publish", requires: [.queue("inbound.v1.00")],
                options: fixtures.options, log: fixtures.log, metrics: fixtures.metrics)
            publisher.start()
            try await closing(publisher.close) {
                try await eventually("what is missing is named") {
                    publisher.state == .misconfigured("queue inbound.v1.00 is missing")
                }
                try await fixtures.server.ctl(
                    ["import_definitions", fixtures.server.directory + "/definitions.json"])
                try await publisher.waitUntilReady(within: .seconds(30))
            }
        }
    }

    private func withBroker(_ body: (Fixtures) async throws -> Void) async throws {
        try await body(Fixtures(PrivateRabbitMQ.shared("faults", definitions: TestTopology.definitions)))
    }
}
