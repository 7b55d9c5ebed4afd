import AMQP
import Foundation
import Shared
import TestSupport
import Testing

/// One at a time: the tests answer from the same queue.
@Suite(.serialized) struct RequesterTests {
    @Test func `many questions at once get each its own answer`() async throws {
        let fixtures = try await Fixtures.shared()
        try await fixtures.withAnswerer { delivery, publisher in
            guard let replyTo = delivery.message.replyTo, delivery.message.id != "unanswered" else { return }
            let answer = AMQPMessage(
                id: "answer", correlationID: delivery.message.correlationID, persistent: false,
                body: delivery.message.body.reversed())
            publisher.publish(answer, exchange: "", routingKey: replyTo) { _ in }
        } ask: { requester in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let body = Array("question \(number)".utf8)
                        let answer = try await requester.request(
                            AMQPMessage(id: "\(number)", body: body), exchange: Topology.registryExchange,
                            routingKey: Topology.lookupRoutingKey, within: .seconds(30))
                        #expect(answer.body == body.reversed())
                    }
                }
                try await group.waitForAll()
            }
            await #expect(throws: PublishError.timedOut) {
                try await requester.request(
                    AMQPMessage(id: "unanswered", body: []), exchange: Topology.registryExchange,
                    routingKey: Topology.lookupRoutingKey, within: .milliseconds(200))
            }
            await #expect(throws: PublishError.unroutable) {
                try await requester.request(
                    AMQPMessage(id: "lost", body: []), exchange: Topology.registryExchange, routingKey: "nobody",
                    within: .seconds(30))
            }
        }
    }

    @Test func `an answer to somebody who left is unroutable`() async throws {
        let fixtures = try await Fixtures.shared()
        let questions = Gathered<AMQPMessage>()
        try await fixtures.withAnswerer { delivery, _ in
            questions.append(delivery.message)
        } ask: { requester in
            await #expect(throws: PublishError.timedOut) {
                try await requester.request(
                    AMQPMessage(id: "given up", body: []), exchange: Topology.registryExchange,
                    routingKey: Topology.lookupRoutingKey, within: .milliseconds(500))
            }
        }
        let replyTo = try #require(questions.all.first?.replyTo)
        try await fixtures.withPublisher { publisher in
            await #expect(throws: PublishError.unroutable) {
                try await publisher.publish(message(1), exchange: "", routingKey: replyTo)
            }
        }
    }
}

extension Fixtures {
    /// Answers what comes to the look-up queue with `answer` while `ask` runs.
    fileprivate func withAnswerer(
        _ answer: @escaping @Sendable (AMQPDelivery, AMQPPublisher) -> Void, ask: (AMQPRequester) async throws -> Void
    ) async throws {
        let requester = AMQPRequester(
            try endpoint, name: "tests/1/request", options: options, log: log, metrics: metrics)
        requester.start()
        try await closing(requester.close) {
            try await requester.waitUntilReady(within: .seconds(30))
            try await withPublisher { publisher in
                try await withConsumer { consumer in
                    _ = consumer.consume(queue: Topology.lookupQueue, prefetch: 64) { delivery in
                        delivery.acknowledge()
                        answer(delivery, publisher)
                    }
                    try await ask(requester)
                }
            }
        }
    }
}
