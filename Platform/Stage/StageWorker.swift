package import AMQP
import Foundation
package import Runtime
import Shared

/// Works a partitioned stage together with its other replicas: each works the partitions that fall to it.
package final class StageWorker<Event: Sendable>: Sendable {
    /// How long a replica listens for others before it takes its first partitions.
    private static var listening: Duration { .milliseconds(300) }

    /// What this replica has of the stage.
    private struct Holdings {
        var open: [Int: PartitionWorker<Event>] = [:]
        /// Partitions that were given up and still have messages in hand: not to be opened again before they are closed.
        var closing: Set<Int> = []
    }

    private let job: StageJob<Event>
    private let partitions: Int
    private let instance: String
    private let consumer: AMQPConsumer
    private let presence: Presence
    private let parking: Parking
    private let metrics: StageMetrics
    private let tracer: Tracer?
    private let log: Log
    private let holdings = Locked(Holdings())
    private let resting = Locked<[Int: Double]>([:])
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - publisher: For signs of life and parked messages; the services' own one.
    ///   - instance: Names this replica among those of its stage; unique.
    ///   - tracer: Records what becomes of each message, if there is one.
    package init(
        _ job: StageJob<Event>, partitions: Int, instance: String, consumer: AMQPConsumer, publisher: AMQPPublisher,
        log: Log, metrics: Metrics, tracer: Tracer? = nil
    ) {
        self.tracer = tracer
        self.job = job
        self.partitions = partitions
        self.instance = instance
        self.consumer = consumer
        self.log = log
        self.metrics = StageMetrics(job.stage, metrics)
        presence = Presence(stage: job.stage, instance: instance, publisher: publisher)
        parking = Parking(stage: job.stage, service: log.service, publisher: publisher, log: log)
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// A name for this process that no other replica has.
    package static func instanceName() -> String {
        "\(ProcessInfo.processInfo.hostName).\(ProcessInfo.processInfo.processIdentifier).\(UInt32.random(in: 0...UInt32.max))"
    }

    /// The partitions that this replica works now.
    package var owned: [Int] { holdings.withLock { $0.open.keys.sorted() } }

    /// Works until `stop()` is called; returns once everything in hand is settled and the partitions are given up.
    package func run() async {
        presence.start(consumer) { [change] in change.yield() }
        presence.announce()
        let ticks = Task { [change, presence] in
            // Owned by this function, which cancels it at its end.
            do {
                try await Task.sleep(for: Self.listening)
                while true {
                    change.yield()
                    try await Task.sleep(for: Presence.interval)
                    presence.announce()
                }
            } catch {
                // Cancelled: the only way that a sleep throws.
            }
        }
        await withDiscardingTaskGroup { group in
            for await _ in changes { share(&group) }
            ticks.cancel()
            await presence.leave()
            release(owned, &group)
        }
    }

    /// Makes `run()` finish.
    package func stop() { change.finish() }

    /// Gives up what has become somebody else's and takes what has become ours.
    ///
    /// A message that takes long holds up its own partition only: who gives it up waits for it in the group.
    private func share(_ group: inout DiscardingTaskGroup) {
        let now = monotonicSeconds()
        let due = PartitionAssignment.partitions(of: instance, among: presence.members(), count: partitions)
        let rested = resting.withLock { resting in
            resting = resting.filter { $0.value > now }
            return due.filter { resting[$0] == nil }
        }
        let (owned, closing) = holdings.withLock { ($0.open.keys.sorted(), $0.closing) }
        let lost = owned.filter { !rested.contains($0) }
        let gained = rested.filter { !owned.contains($0) && !closing.contains($0) }
        release(lost, &group)
        for partition in gained { open(partition) }
        metrics.partitions.set(self.owned.count)
        guard !lost.isEmpty || !gained.isEmpty else { return }
        log.info("partitions shared out", ["stage": job.stage.rawValue, "owned": "\(self.owned)"])
    }

    private func open(_ partition: Int) {
        let worker = PartitionWorker(
            partition: partition, job: job, parking: parking, metrics: metrics, tracer: tracer
        ) { [weak self] partition, pause in self?.rest(partition, for: pause) }
        holdings.withLock { $0.open[partition] = worker }
        worker.open(consumer)
    }

    /// Leaves the partition alone for a while: its far side is down, or its database.
    private func rest(_ partition: Int, for pause: Duration) {
        resting.withLock { $0[partition] = monotonicSeconds() + pause.seconds }
        log.warning(
            "partition handed back", ["stage": job.stage.rawValue, "partition": "\(partition)", "pause": "\(pause)"])
        change.yield()
    }

    /// Closes the partitions side by side, and looks again when one is closed: it may be ours once more.
    private func release(_ partitions: [Int], _ group: inout DiscardingTaskGroup) {
        let leaving = holdings.withLock { holdings in
            holdings.closing.formUnion(partitions)
            return partitions.compactMap { holdings.open.removeValue(forKey: $0) }
        }
        for worker in leaving {
            group.addTask {
                await worker.close()
                self.holdings.withLock { _ = $0.closing.remove(worker.partition) }
                self.change.yield()
            }
        }
    }
}

extension StageWorker {
    /// Works until a signal, then gives the messages in hand `grace` to be settled.
    ///
    /// If they are not settled by then, the process ends with status 1: the broker gives them to somebody else, which is
    /// slower and not wrong.
    package func serve(until signals: TerminationSignals, grace: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [log] in
                await signals.next()
                guard !Task.isCancelled else { return }
                log.info("stopping")
                self.stop()
                do { try await Task.sleep(for: grace) } catch { return }
                log.error("the grace period is over, messages in hand go back to the queue")
                exit(EXIT_FAILURE)
            }
            log.info("ready", ["instance": instance])
            await run()
            group.cancelAll()
        }
    }
}
