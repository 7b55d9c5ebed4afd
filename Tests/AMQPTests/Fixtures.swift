import AMQP
import Foundation
import Runtime
import Shared
import TestSupport

/// What a test of the broker's clients needs, with fast reconnects and a quiet log.
struct Fixtures {
    let server: RabbitMQServer
    let metrics = Metrics()
    let log = Log(service: "amqp-tests", level: .error)
    var options = AMQPOptions()

    init(_ server: RabbitMQServer) {
        self.server = server
        options.backoff = Backoff(base: .milliseconds(200), cap: .seconds(1))
    }

    /// The broker that the tests share.
    static func shared() async throws -> Fixtures {
        Fixtures(try await PrivateRabbitMQ.shared(definitions: TestTopology.definitions))
    }

    var endpoint: AMQPEndpoint { get throws { try AMQPEndpoint(url: server.amqpURL) } }

    /// Runs `body` with a publisher that is ready, and closes it afterwards.
    @discardableResult
    func withPublisher<R>(
        requires: [TopologyRequirement] = [], window: Int = 1024, confirmTimeout: Duration = .seconds(10),
        readyWithin: Duration = .seconds(20),
        maxQueued: Int = 16_384, _ body: (AMQPPublisher) async throws -> R
    ) async throws -> R {
        let publisher = AMQPPublisher(
            try endpoint, name: "tests/1/publish", requires: requires, window: window, confirmTimeout: confirmTimeout,
            maxQueued: maxQueued, options: options, log: log, metrics: metrics)
        publisher.start()
        return try await closing(publisher.close) {
            try await publisher.waitUntilReady(within: readyWithin)
            return try await body(publisher)
        }
    }

    /// Runs `body` with a consumer that is ready, and closes it afterwards.
    @discardableResult
    func withConsumer<R>(_ body: (AMQPConsumer) async throws -> R) async throws -> R {
        let consumer = AMQPConsumer(
            try endpoint, name: "tests/1/consume", options: options, log: log, metrics: metrics)
        consumer.start()
        return try await closing(consumer.close) {
            try await consumer.waitUntilReady(within: .seconds(30))
            return try await body(consumer)
        }
    }
}

extension Fixtures {
    /// How many messages the queue holds, those at consumers included.
    func depth(queue: String) async throws -> Int? {
        let lines = try await server.ctl(["-q", "list_queues", "name", "messages"]).split(separator: "\n")
        return lines.lazy.map { $0.split(separator: "\t") }.first { $0.first == queue[...] }?.last.flatMap { Int($0) }
    }

    func depth(_ queue: TestQueue) async throws -> Int? { try await depth(queue: queue.name) }
}

/// Runs `body`, then `close`, whether `body` throws or not.
func closing<R>(_ close: () async -> Void, _ body: () async throws -> R) async throws -> R {
    do {
        let result = try await body()
        await close()
        return result
    } catch {
        await close()
        throw error
    }
}

/// A list that callbacks append to.
final class Gathered<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])

    func append(_ element: Element) { elements.withLock { $0.append(element) } }

    var all: [Element] { elements.withLock { $0 } }
    var count: Int { elements.withLock { $0.count } }
}
