import AMQP
import Runtime

/// The messages that were taken and are not settled yet, with the time that each was published at.
final class InHand: Sendable {
    private struct Key: Hashable {
        let epoch: UInt64
        let tag: UInt64
    }

    private let times = Locked<[Key: Int64]>([:])

    func add(_ delivery: AMQPDelivery) {
        let time = delivery.message.timestamp
        times.withLock { times in
            times[Key(epoch: delivery.epoch, tag: delivery.tag)] = time > 0 ? time : WallClock.system.seconds
        }
    }

    func remove(_ delivery: AMQPDelivery) {
        times.withLock { $0[Key(epoch: delivery.epoch, tag: delivery.tag)] = nil }
    }

    var count: Int { times.withLock { $0.count } }

    /// Seconds since the oldest of them was published; 0 without any.
    func oldestAge(at now: Int64) -> Int64 { times.withLock { $0.values.min() }.map { max(0, now - $0) } ?? 0 }
}
