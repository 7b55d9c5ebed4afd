import AMQP
import Runtime
import Shared

/// Works one partition: its queue's deliveries go into lanes by key, and each is settled once, after its effect.
final class PartitionWorker<Event: Sendable>: Sendable {
    /// How long the partition rests when a message could not be parked.
    private static var parkingPause: Duration { .seconds(5) }

    let partition: Int
    private let job: StageJob<Event>
    private let stop = StopSignal()
    private let parking: Parking
    private let metrics: StageMetrics
    private let tracer: Tracer?
    private let lanes: Lanes<StageItem<Event>>
    private let subscription = Locked<AMQPSubscription?>(nil)
    private let onHandBack: @Sendable (Int, Duration) -> Void

    /// - Parameter onHandBack: Told that the partition cannot be worked for now; the worker is then to be closed.
    init(
        partition: Int, job: StageJob<Event>, parking: Parking, metrics: StageMetrics, tracer: Tracer?,
        onHandBack: @escaping @Sendable (Int, Duration) -> Void
    ) {
        self.partition = partition
        self.job = job
        self.parking = parking
        self.metrics = metrics
        self.tracer = tracer
        self.onHandBack = onHandBack
        lanes = Lanes(
            isSuperseded: { item, later in job.isSuperseded(item.event, later.map(\.event)) },
            skip: { item in
                metrics.superseded.increment()
                item.delivery.span(.process, in: item.delivery.trace(tracer))?.end(["isthmus.verdict": "superseded"])
                metrics.inHand.remove(item.delivery)
                item.delivery.acknowledge()
            },
            work: { item in
                await Self.trace(item, tracer) { await Self.work(item, job, parking, metrics, onHandBack) }
            })
    }

    func open(_ consumer: AMQPConsumer) {
        let opened = consumer.consume(queue: job.stage.queue(partition), prefetch: job.prefetch) {
            [weak self] delivery in
            self?.take(delivery)
        } onEnd: { [weak self] _ in
            guard let self else { return }
            // The consumer subscribes again by itself, and all that is unsettled comes again: what waits is dropped,
            // and what is in hand is made for being worked twice.
            forget(lanes.takeWaiting())
        }
        subscription.withLock { $0 = opened }
    }

    private func forget(_ items: [StageItem<Event>]) { for item in items { metrics.inHand.remove(item.delivery) } }

    private func take(_ delivery: AMQPDelivery) {
        metrics.taken.increment()
        metrics.inHand.add(delivery)
        do {
            let (key, event) = try job.decode(delivery.message.body)
            let item = StageItem(
                event: event, delivery: delivery, partition: partition, stop: stop,
                takenAt: tracer == nil ? nil : .now
            ) { [lanes, job] in job.isSuperseded(event, lanes.waiting(behind: key).map(\.event)) }
            if !lanes.add(item, key: key) { metrics.inHand.remove(delivery) }
        } catch {
            let parking = parking
            let metrics = metrics
            // Owned by the delivery: unsettled, it holds back one of the prefetch's places, and comes back when the
            // partition is given up.
            Task { [tracer, partition, stop, onHandBack] in
                let isParked = await Trace.$current.withValue(delivery.trace(tracer)) {
                    await Self.park(delivery, "cannot be decoded: \(error)", parking, metrics)
                }
                metrics.inHand.remove(delivery)
                if !isParked { Self.handBack(partition, stop, Self.parkingPause, onHandBack) }
            }
        }
    }

    /// Works an item as a part of the trace that its message came with.
    private static func trace(
        _ item: StageItem<Event>, _ tracer: Tracer?, _ work: @Sendable () async -> Verdict?
    ) async {
        let trace = item.delivery.trace(tracer)
        // A message without a trace begins one with its work.
        if item.delivery.message.traceparent != nil {
            item.delivery.span(.receive, in: trace, start: item.takenAt)?.end()
        }
        let span = item.delivery.span(.process, in: trace)
        let verdict = await Trace.$current.withValue(span?.trace ?? trace, operation: work)
        switch verdict {
        case .done: span?.end(["isthmus.verdict": "done"])
        case .park: span?.end(["isthmus.verdict": "parked"], error: "parked")
        case .handBack: span?.end(["isthmus.verdict": "handed_back"], error: "handed_back")
        case nil: span?.end(["isthmus.verdict": "left"])
        }
    }

    /// Returns `nil` if the partition is given up already, so that nothing is begun.
    private static func work(
        _ item: StageItem<Event>, _ job: StageJob<Event>, _ parking: Parking, _ metrics: StageMetrics,
        _ onHandBack: @Sendable (Int, Duration) -> Void
    ) async -> Verdict? {
        defer { metrics.inHand.remove(item.delivery) }
        guard !item.stop.isFired else { return nil }
        let verdict = await job.handle(item)
        switch verdict {
        case .done:
            item.delivery.acknowledge()
            metrics.done.increment()
        case .park(let reason):
            if await !park(item.delivery, reason, parking, metrics) {
                handBack(item.partition, item.stop, Self.parkingPause, onHandBack)
            }
        case .handBack(let retryAfter):
            metrics.handedBack.increment()
            handBack(item.partition, item.stop, retryAfter, onHandBack)
        }
        return verdict
    }

    /// Nothing of the partition may be worked past the message, or one user's events change places.
    private static func handBack(
        _ partition: Int, _ stop: StopSignal, _ retryAfter: Duration, _ onHandBack: @Sendable (Int, Duration) -> Void
    ) {
        guard !stop.isFired else { return }
        stop.fire()
        onHandBack(partition, retryAfter)
    }

    private static func park(
        _ delivery: AMQPDelivery, _ reason: String, _ parking: Parking, _ metrics: StageMetrics
    ) async -> Bool {
        guard await parking.park(delivery.message, from: delivery.queue, reason: reason) else { return false }
        delivery.acknowledge()
        metrics.parked.increment()
        return true
    }

    /// Takes nothing more, lets what is in hand finish, and closes the channel: the rest goes back in order.
    func close() async {
        stop.fire()
        forget(lanes.stop())
        await lanes.drain()
        await subscription.withLock { $0 }?.close()
    }
}
