import AMQP
import Runtime
import Shared

/// Works one partition: its queue's deliveries go into lanes by key, and each is settled once, after its effect.
final class PartitionWorker<Event: Sendable>: Sendable {
    let partition: Int
    private let job: StageJob<Event>
    private let stop = StopSignal()
    private let parking: Parking
    private let metrics: StageMetrics
    private let lanes: Lanes<StageItem<Event>>
    private let subscription = Locked<AMQPSubscription?>(nil)
    private let onHandBack: @Sendable (Int, Duration) -> Void

    /// - Parameter onHandBack: Told that the partition cannot be worked for now; the worker is then to be closed.
    init(
        partition: Int, job: StageJob<Event>, parking: Parking, metrics: StageMetrics,
        onHandBack: @escaping @Sendable (Int, Duration) -> Void
    ) {
        self.partition = partition
        self.job = job
        self.parking = parking
        self.metrics = metrics
        self.onHandBack = onHandBack
        lanes = Lanes(
            isSuperseded: { item, later in job.isSuperseded(item.event, later.map(\.event)) },
            skip: { item in
                metrics.superseded.increment()
                metrics.inFlight.add(-1)
                item.delivery.acknowledge()
            },
            work: { item in await Self.work(item, job, parking, metrics, onHandBack) })
    }

    func open(_ consumer: AMQPConsumer) {
        let opened = consumer.consume(queue: job.stage.queue(partition), prefetch: job.prefetch) {
            [weak self] delivery in
            self?.take(delivery)
        } onEnd: { _ in
            // The consumer subscribes again by itself; what was in hand is settled on a channel that is gone, and
            // comes back: the handlers are made for that.
        }
        subscription.withLock { $0 = opened }
    }

    private func take(_ delivery: AMQPDelivery) {
        metrics.taken.increment()
        metrics.inFlight.add(1)
        do {
            let (key, event) = try job.decode(delivery.message.body)
            let item = StageItem(event: event, delivery: delivery, partition: partition, stop: stop) {
                [lanes, job] in job.isSuperseded(event, lanes.waiting(behind: key).map(\.event))
            }
            lanes.add(item, key: key)
        } catch {
            let parking = parking
            let metrics = metrics
            // Owned by the delivery: unsettled, it holds back one of the prefetch's places and comes back.
            Task { await Self.park(delivery, "cannot be decoded: \(error)", parking, metrics) }
        }
    }

    private static func work(
        _ item: StageItem<Event>, _ job: StageJob<Event>, _ parking: Parking, _ metrics: StageMetrics,
        _ onHandBack: @Sendable (Int, Duration) -> Void
    ) async {
        guard !item.stop.isFired else {
            metrics.inFlight.add(-1)
            return
        }
        switch await job.handle(item) {
        case .done:
            item.delivery.acknowledge()
            metrics.done.increment()
            metrics.inFlight.add(-1)
        case .park(let reason): await park(item.delivery, reason, parking, metrics)
        case .handBack(let retryAfter):
            metrics.handedBack.increment()
            metrics.inFlight.add(-1)
            if !item.stop.isFired {
                // Nothing of this partition may be worked past this message, or one user's events change places.
                item.stop.fire()
                onHandBack(item.partition, retryAfter)
            }
        }
    }

    private static func park(
        _ delivery: AMQPDelivery, _ reason: String, _ parking: Parking, _ metrics: StageMetrics
    ) async {
        if await parking.park(delivery, reason: reason) {
            delivery.acknowledge()
            metrics.parked.increment()
        }
        metrics.inFlight.add(-1)
    }

    /// Takes nothing more, lets what is in hand finish, and closes the channel: the rest goes back in order.
    func close() async {
        stop.fire()
        lanes.stop()
        await lanes.drain()
        await subscription.withLock { $0 }?.close()
    }
}
