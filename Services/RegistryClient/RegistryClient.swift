package import AMQP
package import Cache
import Foundation
package import Runtime
package import Shared

/// The registry did not answer: it is not known what it would have said.
package struct RegistryUnavailable: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Asks the registry, through Redis where that knows the answer.
///
/// Redis being away makes it slower and never wrong: everything it says can be asked over the broker as well.
package final class RegistryClient: Sendable {
    /// Questions on their way at a time, so that an emptied cache does not become a flood.
    package static let mostLookUps = 8
    /// The look-up queue keeps no question for longer than this.
    package static let answerTimeout: Duration = .seconds(2)
    private static let startTries = 3
    private static let mostOpenStarts = 10_000

    private let ask: @Sendable (AMQPMessage) async throws(PublishError) -> AMQPMessage
    private let cache: RegistryCache?
    private let flights = Flights(atMost: mostLookUps)
    private let openStarts = Locked<[String: String]>([:])
    private let log: Log
    private let clock: WallClock
    private let figures: Figures

    /// - Parameters:
    ///   - requester: Started and closed by its owner.
    ///   - cache: `nil` goes to the registry each time.
    package convenience init(
        requester: AMQPRequester, cache: RedisClient?, keys: CacheKeys, log: Log, metrics: Metrics,
        clock: WallClock = .system
    ) {
        self.init(
            requester: requester, cache: cache.map { RegistryCache(redis: $0, keys: keys, metrics: metrics) }, log: log,
            metrics: metrics, clock: clock)
    }

    /// - Parameters:
    ///   - requester: Started and closed by its owner.
    ///   - cache: `nil` goes to the registry each time.
    convenience init(
        requester: AMQPRequester, cache: RegistryCache?, log: Log, metrics: Metrics, clock: WallClock = .system
    ) {
        self.init(cache: cache, log: log, metrics: metrics, clock: clock) { message throws(PublishError) in
            try await requester.request(
                message, exchange: Topology.registryExchange, routingKey: Topology.lookupRoutingKey,
                within: Self.answerTimeout)
        }
    }

    /// - Parameter ask: Takes a question to the registry and returns its answer, within a time of its own.
    package init(
        cache: RegistryCache?, log: Log, metrics: Metrics, clock: WallClock = .system,
        ask: @escaping @Sendable (AMQPMessage) async throws(PublishError) -> AMQPMessage
    ) {
        self.ask = ask
        self.cache = cache
        self.log = log
        self.clock = clock
        figures = Figures(metrics)
    }

    /// What the registry knows of a handle, which is in its normal form (E.164, or e-mail in lower case).
    ///
    /// The answer is not older than any registration that had been answered before this was called, as long as Redis
    /// did not lose the news of it; then, than five minutes.
    package func lookup(_ handle: String) async throws(RegistryUnavailable) -> RegistryRecord {
        if let cache {
            do {
                if let record = try await cache.record(of: handle) {
                    figures.hits.increment()
                    return record
                }
                figures.misses.increment()
            } catch { figures.cacheFailures.increment() }
        }
        return try await flights.join(handle) { await self.fetch(handle) }
    }

    /// Like `lookup(_:)`, past the cache: for when something else said that the cached answer is not true any more.
    package func lookup(fresh handle: String) async throws(RegistryUnavailable) -> RegistryRecord {
        try await flights.join(handle) { await self.fetch(handle) }
    }

    /// What the registry knows of a user of the customer's, by their id; past the cache, which goes by handles.
    package func lookup(user userID: String) async throws(RegistryUnavailable) -> RegistryRecord {
        try await flights.join("user\0" + userID) {
            do throws(RegistryUnavailable) {
                let answer: CloudEvent<RegistryRecord> = try await self.question(
                    UUID().uuidString, RegistryUserLookup.type, RegistryUserLookup(userID: userID))
                return .success(answer.data)
            } catch {
                self.figures.unavailable.increment()
                return .failure(error)
            }
        }
    }

    /// Asks for leave to start a card.
    ///
    /// When this throws, the leave may have been given although nobody heard of it. Asking again from this process gets
    /// the same answer; nothing else may be sent on the strength of it.
    package func requestStart(_ start: RegistryStart) async throws(RegistryUnavailable) -> RegistryStartAnswer {
        let name = [start.userID, start.deviceID, start.attributesType, start.sessionID, "\(start.generation)"]
            .joined(separator: "\0")
        let request = openStarts.withLock { open in
            if open.count >= Self.mostOpenStarts, let some = open.keys.first { open[some] = nil }
            let request = open[name] ?? UUID().uuidString
            open[name] = request
            return request
        }
        var tries = 0
        while true {
            do {
                let answer: CloudEvent<RegistryStartAnswer> = try await question(request, RegistryStart.type, start)
                openStarts.withLock { $0[name] = nil }
                return answer.data
            } catch {
                tries += 1
                guard tries < Self.startTries, !Task.isCancelled else { throw error }
            }
        }
    }

    private func fetch(_ handle: String) async -> Result<RegistryRecord, RegistryUnavailable> {
        let start = monotonicSeconds()
        do {
            let answer: CloudEvent<RegistryRecord> = try await question(
                UUID().uuidString, RegistryLookup.type, RegistryLookup(handle: handle))
            figures.seconds.observe(monotonicSeconds() - start)
            if let cache {
                do { try await cache.fill(answer.data, for: handle) } catch { figures.cacheFailures.increment() }
            }
            return .success(answer.data)
        } catch {
            figures.unavailable.increment()
            return .failure(error)
        }
    }

    private func question<Question: JSONWritable & Sendable, Answer: JSONPayload>(
        _ id: String, _ type: String, _ question: Question
    ) async throws(RegistryUnavailable) -> CloudEvent<Answer> {
        let now = Timestamp(clock.now)
        let event = CloudEvent(
            id: id, source: "registry-client", type: type, time: now, traceparent: nil, data: question)
        do {
            let answer = try await ask(
                AMQPMessage(
                    id: id, type: type, timestamp: now.secondsSince1970, contentType: CloudEvent<Question>.contentType,
                    persistent: false, body: try event.encoded()))
            return try CloudEvent<Answer>(decoding: answer.body)
        } catch {
            throw RegistryUnavailable("the registry did not answer: \(error)")
        }
    }

    private struct Figures: Sendable {
        let hits, misses, cacheFailures, unavailable: Counter
        let seconds: Histogram

        init(_ metrics: Metrics) {
            func cache(_ result: String) -> Counter {
                metrics.counter(
                    "isthmus_registry_client_cache_total", "Look-ups in the cache, by result.", ["result": result])
            }
            hits = cache("hit")
            misses = cache("miss")
            cacheFailures = cache("failed")
            unavailable = metrics.counter(
                "isthmus_registry_client_unavailable_total", "Look-ups that the registry did not answer.")
            seconds = metrics.histogram(
                "isthmus_registry_client_lookup_seconds", "Answers of the registry over the broker.")
        }
    }
}
