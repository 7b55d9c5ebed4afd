import Crypto
import Database
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

@Suite struct `Attempts at an event` {
    private struct Failed: Error {}

    /// Runs the body once on SQLite and once on PostgreSQL.
    private func onBoth(_ body: (AttemptStore) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in try await with("sqlite:\(directory)/a.sqlite", body) }
        try await PrivatePostgreSQL.with { server in try await with(server.url, body) }
    }

    private func with(_ url: String, _ body: (AttemptStore) async throws -> Void) async throws {
        let database = try await Database.open(url, log: Log(service: "test", level: .error), metrics: Metrics())
        let keyring = try Keyring(fileTexts: ["k1:" + Data(repeating: 7, count: 32).base64EncodedString()])
        let store = AgentStore(database, hashKey: HMACKey([1]), keyring: keyring)
        try await store.migrate()
        try await body(store.attempts)
        await store.close()
    }

    /// A process that gets the events; once it is dead, what is in hand stays in hand.
    private final class Life: Sendable {
        let done = Locked<Set<String>>([])
        let isParked = Locked(false)
        private let isDead = Locked(false)
        private let tasks = Locked<[Task<Void, Never>]>([])

        init(_ store: AttemptStore, _ events: Set<String>) {
            let attempts = Attempts(store, clock: .system)
            tasks.withLock { $0 = events.map { event in Task { await self.work(event, attempts) } } }
        }

        private func work(_ event: String, _ attempts: Attempts) async {
            var attempt = attempts.attempt(at: event)
            do {
                try await attempts.run(&attempt) {
                    if event == "poison" { isDead.withLock { $0 = true } }
                    try await Task.sleep(for: .milliseconds(50))
                    if isDead.withLock({ $0 }) { try await Task.sleep(for: .seconds(3600)) }
                }
                try await attempts.end(attempt)
                done.withLock { _ = $0.insert(event) }
            } catch is Attempts.TooMany {
                isParked.withLock { $0 = true }
            } catch {
                // The test is over.
            }
        }

        /// Waits until nothing more happens.
        func settle(_ events: Int) async throws {
            try await eventually("the process is dead, or all is dealt with") {
                self.isDead.withLock { $0 }
                    || self.done.withLock { $0.count } + (self.isParked.withLock { $0 } ? 1 : 0) == events
            }
            // Those who got through just before have this long to say so.
            try await Task.sleep(for: .milliseconds(200))
        }

        func end() { for task in tasks.withLock({ $0 }) { task.cancel() } }
    }

    @Test(.timeLimit(.minutes(3))) func `what ends the process is parked, and takes nobody along`() async throws {
        try await onBoth { store in
            var left: Set = ["a", "poison", "b", "c"]
            var lives: [Life] = []
            while !left.isEmpty, lives.count < 10 {
                let life = Life(store, left)
                lives.append(life)
                try await life.settle(left.count)
                left.subtract(life.done.withLock { $0 })
                // Parked only once, and it is not one of the others.
                if life.isParked.withLock({ $0 }) { #expect(left.remove("poison") != nil && left.isEmpty) }
            }
            #expect(left.isEmpty)
            #expect(lives.count == Attempts.limit + 1)
            lives.forEach { $0.end() }
        }
    }

    @Test(.timeLimit(.minutes(3))) func `an attempt that comes to an end is forgotten, however it ended`() async throws
    {
        try await onBoth { store in
            let attempts = Attempts(store, clock: .system)
            for _ in 0..<10 {
                var attempt = attempts.attempt(at: "a")
                // Two tries in place are one attempt.
                for _ in 0..<2 {
                    await #expect(throws: Failed.self) { try await attempts.run(&attempt) { throw Failed() } }
                }
                #expect(try await store.count(of: "a") == 1)
                try await attempts.end(attempt)
            }
            #expect(try await store.count(of: "a") == 0)
        }
    }
}
