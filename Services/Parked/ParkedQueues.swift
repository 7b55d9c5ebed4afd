import AMQP
import Runtime
import Shared

/// The parked queues on the broker.
struct ParkedQueues: Sendable {
    /// The most messages of one queue that are looked at: they are all in hand at once, or their order would change.
    static let most = 20_000

    struct Lost: Error, CustomStringConvertible {
        let description: String
    }

    let consumer: AMQPConsumer
    let publisher: AMQPPublisher

    init(_ endpoint: AMQPEndpoint, log: Log) {
        let metrics = Metrics()
        consumer = AMQPConsumer(
            endpoint, name: "isthmus-parked/consume", requires: ParkedQueue.allCases.map { .queue($0.name) }, log: log,
            metrics: metrics)
        publisher = AMQPPublisher(endpoint, name: "isthmus-parked/publish", log: log, metrics: metrics)
    }

    func start() async throws {
        consumer.start()
        publisher.start()
        try await consumer.waitUntilReady(within: .seconds(20))
        try await publisher.waitUntilReady(within: .seconds(20))
    }

    func close() async {
        await consumer.close()
        await publisher.close()
    }

    /// Goes through the messages that wait in `queue` now, oldest first, for as long as `goesOn` returns true.
    ///
    /// A message leaves the queue if `isDone` returns true for it. The others go back in their order when this ends,
    /// however it ends. Returns how many messages have not been looked at.
    func visit(
        _ queue: ParkedQueue, while goesOn: () -> Bool, isDone: (AMQPMessage) async throws -> Bool
    ) async throws -> Int {
        let waiting = try await consumer.count(of: queue.name)
        let wanted = min(waiting, Self.most)
        guard wanted > 0 else { return 0 }
        let (deliveries, arrival) = AsyncThrowingStream.makeStream(of: AMQPDelivery.self)
        let arrived = Locked(0)
        let subscription = consumer.consume(queue: queue.name, prefetch: UInt16(wanted)) { delivery in
            arrived.withLock { $0 += 1 }
            arrival.yield(delivery)
        } onEnd: { reason in
            arrival.finish(throwing: Lost(description: reason))
        }
        // Owned by this function, which cancels it.
        let watch = Task {
            do { try await finishWhenEmpty(queue, arrived, arrival) } catch { arrival.finish(throwing: error) }
        }
        var seen = 0
        var done = 0
        let result: Result<Void, any Error>
        do {
            for try await delivery in deliveries {
                seen += 1
                if try await isDone(delivery.message) {
                    delivery.acknowledge()
                    done += 1
                }
                guard goesOn(), seen < wanted else { break }
            }
            result = .success(())
        } catch { result = .failure(error) }
        watch.cancel()
        await subscription.close()
        try result.get()
        try await waitUntilBack(waiting - done, in: queue)
        return waiting - seen
    }

    /// Waits for the broker, which answers that the consumer is gone before it has put back what that had: whoever looks
    /// next would find less than there is.
    ///
    /// Not for long: somebody else may take the messages.
    private func waitUntilBack(_ expected: Int, in queue: ParkedQueue) async throws {
        let deadline = ContinuousClock.now + .seconds(2)
        while try await consumer.count(of: queue.name) < expected, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Ends the wait for messages that somebody else has taken meanwhile.
    private func finishWhenEmpty(
        _ queue: ParkedQueue, _ arrived: Locked<Int>,
        _ arrival: AsyncThrowingStream<AMQPDelivery, any Error>.Continuation
    ) async throws {
        var before = -1
        while !Task.isCancelled {
            try await Task.sleep(for: .seconds(1))
            let now = arrived.withLock { $0 }
            if now == before, try await consumer.count(of: queue.name) == 0 { return arrival.finish() }
            before = now
        }
    }
}
