import AMQP
import Database
import Foundation
import RegistryClient
import Runtime
import Shared

/// Does what must follow from committed changes: tells the cache at once, and the agent through the broker.
///
/// What does not succeed stays in the database and is done again each second, after a restart too. Events of one handle
/// go out in the order of the changes; a copy has the same id.
final class Outbox: Sendable {
    /// Carries a message to the inbound stage; returns after the broker's confirm.
    typealias Publish = @Sendable (AMQPMessage, _ routingKey: String) async throws(PublishError) -> Void

    private static let batch = 500
    private static let interval: Duration = .seconds(1)

    private let store: RegistryStore
    private let cache: RegistryCache?
    private let partitions: Int
    private let publish: Publish
    private let log: Log
    private let done = Locked<[Int64]>([])
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let pending, oldest: Gauge
    private let published, publishFailed, cacheWritten, cacheFailed: Counter

    init(
        store: RegistryStore, cache: RegistryCache?, partitions: Int, log: Log, metrics: Metrics,
        publish: @escaping Publish
    ) {
        self.store = store
        self.cache = cache
        self.partitions = partitions
        self.log = log
        self.publish = publish
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        pending = metrics.gauge("isthmus_registry_outbox_pending", "Entries that the last look found to be done.")
        oldest = metrics.gauge("isthmus_registry_outbox_oldest_seconds", "Age of the oldest entry to be done.")
        func counter(_ name: String, _ help: String, _ result: String) -> Counter {
            metrics.counter(name, help, ["result": result])
        }
        published = counter("isthmus_registry_events_total", "Events for the agent, by result.", "published")
        publishFailed = counter("isthmus_registry_events_total", "Events for the agent, by result.", "failed")
        cacheWritten = counter("isthmus_registry_cache_writes_total", "Entries told to the cache, by result.", "done")
        cacheFailed = counter("isthmus_registry_cache_writes_total", "Entries told to the cache, by result.", "failed")
    }

    /// Tells the cache before the caller says that the change is made, so that nobody who heard of it reads what was
    /// before.
    ///
    /// If the cache is away, the caller does not wait for it.
    func follow(_ committed: Committed) async {
        for entry in committed.staleEntries {
            guard await tell(entry.handle, entry.generation, entry.record) else { break }
            done.withLock { $0.append(entry.outboxID) }
        }
        if committed.hasEvents || !committed.staleEntries.isEmpty { wake.yield() }
    }

    /// Works until it is cancelled.
    ///
    /// - Parameter tracer: Records the publishing as a part of the trace of the call that caused the event.
    func run(tracer: Tracer? = nil) async {
        await withTaskGroup { group in
            group.addTask { [wake] in
                while !Task.isCancelled {
                    wake.yield()
                    // Cancelled: the loop's condition ends it.
                    try? await Task.sleep(for: Self.interval)
                }
                wake.finish()
            }
            for await _ in wakeups {
                do {
                    while try await workBatch(tracer: tracer) {}
                } catch { log.warning("outbox not worked", ["error": "\(error)"]) }
            }
            group.cancelAll()
        }
    }

    /// Works what is pending once.
    ///
    /// Returns whether there may be more to be done at once.
    func workBatch(tracer: Tracer? = nil) async throws -> Bool {
        try await forget(
            done.withLock { finished in
                defer { finished = [] }
                return finished
            })
        let now = Timestamp(store.clock.now)
        let entries = try await store.database.read { [store] transaction in
            try OutboxRows(transaction: transaction, vault: store.vault).pending(
                store.instance, at: now, limit: Self.batch)
        }
        pending.set(entries.count)
        let age = entries.first.map { now.millisecondsSince1970 - $0.createdAt.millisecondsSince1970 } ?? 0
        oldest.set(Int(max(0, age) / 1000))
        let isDone = try await work(entries, tracer)
        return entries.count == Self.batch && isDone
    }

    private func work(_ entries: [OutboxRows.Entry], _ tracer: Tracer?) async throws -> Bool {
        var lanes: [String: [Waiting]] = [:]
        var finished: [Int64] = []
        var cacheAnswers = true
        for entry in entries {
            do {
                let plain = try store.vault.openOutbox(entry.sealed)
                if entry.kind == OutboxRows.Kind.event.rawValue {
                    let event = try CloudEvent<InboundEvent>(decoding: plain)
                    lanes[event.data.handle, default: []].append(Waiting(entry.id, event, plain, tracer))
                } else if cacheAnswers {
                    let handle = String(decoding: plain, as: UTF8.self)
                    cacheAnswers = await tellAnew(handle, entry.generation)
                    if cacheAnswers { finished.append(entry.id) }
                }
            } catch {
                log.error("outbox entry cannot be read and is kept aside", ["id": "\(entry.id)", "error": "\(error)"])
                try await setAside(entry.id)
            }
        }
        let sent = await send(lanes)
        try await forget(finished + sent)
        return cacheAnswers && sent.count == lanes.values.reduce(0) { $0 + $1.count }
    }

    /// Publishes each handle's events in their order, the handles side by side.
    ///
    /// Returns the ids that are confirmed.
    private func send(_ lanes: [String: [Waiting]]) async -> [Int64] {
        await withTaskGroup(of: [Int64].self) { group in
            for (handle, lane) in lanes {
                group.addTask { await self.send(lane, Partition.name(Partition.of(handle, among: self.partitions))) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func send(_ lane: [Waiting], _ routingKey: String) async -> [Int64] {
        var sent: [Int64] = []
        for one in lane {
            do {
                try await Trace.$current.withValue(one.trace) { try await publish(one.message, routingKey) }
                published.increment()
                sent.append(one.id)
            } catch {
                publishFailed.increment()
                log.debug("event not published yet", ["id": one.message.id, "error": "\(error)"])
                break
            }
        }
        return sent
    }

    /// An event that is to be published.
    private struct Waiting: Sendable {
        let id: Int64
        let message: AMQPMessage
        let trace: Trace?

        init(_ id: Int64, _ event: CloudEvent<InboundEvent>, _ body: [UInt8], _ tracer: Tracer?) {
            self.id = id
            message = AMQPMessage(
                id: event.id, type: event.type, timestamp: event.time.secondsSince1970,
                contentType: CloudEvent<InboundEvent>.contentType,
                headers: event.traceparent.map { ["traceparent": $0] } ?? [:], body: body)
            trace = .resume(event.traceparent, state: event.tracestate, tracer: tracer)
        }
    }

    /// Tells the cache what is true of `handle` by now: more may have happened since the entry was written.
    private func tellAnew(_ handle: String, _ generation: Int64) async -> Bool {
        do {
            let record = try await store.record(of: handle)
            return await tell(handle, generation, record.userID == nil ? nil : record)
        } catch {
            log.warning("record not read for the cache", ["error": "\(error)"])
            return false
        }
    }

    private func tell(_ handle: String, _ generation: Int64, _ record: RegistryRecord?) async -> Bool {
        guard let cache else { return true }
        do {
            if let record {
                try await cache.fill(record, for: handle)
            } else {
                try await cache.invalidate(handle, generation: generation)
            }
            cacheWritten.increment()
            return true
        } catch {
            cacheFailed.increment()
            return false
        }
    }

    private func forget(_ ids: [Int64]) async throws {
        guard !ids.isEmpty else { return }
        try await store.database.transaction { [vault = store.vault] transaction in
            try OutboxRows(transaction: transaction, vault: vault).remove(ids)
        }
    }

    private func setAside(_ id: Int64) async throws {
        try await store.database.transaction { [vault = store.vault] transaction in
            try OutboxRows(transaction: transaction, vault: vault).markUnreadable(id)
        }
    }
}
