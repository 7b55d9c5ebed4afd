import Crypto
import Database
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

@Suite(.timeLimit(.minutes(3))) struct `Deferred lanes` {
    private let hashKey = HMACKey(Array("a key for tests only".utf8))
    private let user = "+15550000001"

    /// Runs the body once on SQLite and once on PostgreSQL.
    private func onBoth(_ body: (DeferredStore) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in try await with("sqlite:\(directory)/a.sqlite", body) }
        try await PrivatePostgreSQL.with { server in try await with(server.url, body) }
    }

    private func with(_ url: String, _ body: (DeferredStore) async throws -> Void) async throws {
        let database = try await Database.open(url, log: Log(service: "test", level: .error), metrics: Metrics())
        let keyring = try Keyring(fileTexts: ["k1:" + Data(repeating: 7, count: 32).base64EncodedString()])
        let store = AgentStore(database, hashKey: hashKey, keyring: keyring)
        try await store.migrate()
        try await body(store.deferred)
        await store.close()
    }

    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }

    private func entry(_ number: Int, of handle: String? = nil) throws -> DeferredStore.Entry {
        let handle = handle ?? user
        let event = CloudEvent(
            id: "e\(number)", source: "linq", type: "isthmus.session.due.v1", time: at(0), traceparent: nil,
            data: InboundEvent(handle: handle, content: .sessionDue(SessionDue(sessionID: "s", dueAt: at(0)))))
        return DeferredStore.Entry(
            handle: handle, eventKey: "linq/e\(number)", partition: Partition.of(handle, among: 16),
            at: at(Int64(number)), body: try event.encoded())
    }

    /// The lane's events in the order in which they are worked.
    private func emptied(_ store: DeferredStore, of handle: String? = nil) async throws -> [String] {
        var keys: [String] = []
        while let head = try await store.head(of: handle ?? user) {
            keys.append(head.eventKey)
            try await store.remove(head.eventKey, of: handle ?? user, at: at(0))
        }
        return keys
    }

    @Test func `events wait in order, a copy changes nothing, and the lane ends with its last one`() async throws {
        try await onBoth { store in
            #expect(try await !store.append(entry(1)))
            let first = try entry(1)
            try await store.begin(first, dueAt: at(100))
            for number in [2, 3, 2, 1] { #expect(try await store.append(entry(number))) }
            // Another replica that had the same first event in hand.
            try await store.begin(entry(1), dueAt: at(999))
            let head = try #require(try await store.head(of: user))
            #expect(head.eventKey == "linq/e1" && head.dueAt == at(100) && head.tries == 0 && head.deferredAt == at(1))
            #expect(head.body == first.body)
            #expect(try await store.head(of: "+15550000002") == nil)
            #expect(try await store.count() == 1)
            #expect(try await emptied(store) == ["linq/e1", "linq/e2", "linq/e3"])
            #expect(try await store.count() == 0)
            #expect(try await !store.append(entry(4)))
        }
    }

    @Test func `a lane is due in its partition when its time has come`() async throws {
        try await onBoth { store in
            try await store.begin(entry(1), dueAt: at(100))
            let partition = Partition.of(user, among: 16)
            #expect(try await store.due(at: at(99), partitions: [partition]).isEmpty)
            let due = try await store.due(at: at(100), partitions: [partition])
            #expect(due.map(\.handle) == [user] && due.map(\.dueAt) == [at(100)])
            #expect(due.allSatisfy { !$0.laneID.contains("5550000001") })
            let others = (0..<16).filter { $0 != partition }
            #expect(try await store.due(at: at(100), partitions: others).isEmpty)
            // What another replica does not get round to holds nothing up here.
            let other = try #require(
                (3..<100).map { "+155500000\($0)" }.first { Partition.of($0, among: 16) != partition })
            try await store.begin(entry(9, of: other), dueAt: at(50))
            #expect(try await store.due(at: at(100), partitions: [partition], limit: 1).map(\.handle) == [user])

            try await store.postpone(user, until: at(200))
            #expect(try await store.due(at: at(199), partitions: [partition]).isEmpty)
            #expect(try await store.head(of: user)?.tries == 1)
            // After a success the rest is due at once, and the next failure is a first one again.
            #expect(try await store.append(entry(2)))
            try await store.remove("linq/e1", of: user, at: at(150))
            let next = try #require(try await store.head(of: user))
            #expect(next.eventKey == "linq/e2" && next.dueAt == at(150) && next.tries == 0)
        }
    }

    @Test func `a lane is due at once when the clock was put back since its time was set`() async throws {
        try await onBoth { store in
            let hour: Int64 = 3_600_000
            try await store.begin(entry(1), dueAt: at(hour))
            let partition = Partition.of(user, among: 16)
            #expect(try await store.due(at: at(hour - 300_000), partitions: [partition]).isEmpty)
            #expect(try await store.due(at: at(hour - 300_001), partitions: [partition]).map(\.handle) == [user])
        }
    }

    @Test func `an event that comes while the lane ends is either in it or told to go on`() async throws {
        try await onBoth { store in
            for round in 0..<20 {
                try await store.begin(entry(1000 + round), dueAt: at(0))
                async let ending = emptied(store)
                var isIn: [Bool] = []
                for number in 0..<5 { isIn.append(try await store.append(entry(number))) }
                let worked = try await ending + emptied(store)
                let expected = (0..<5).filter { isIn[$0] }.map { "linq/e\($0)" }
                #expect(worked == ["linq/e\(1000 + round)"] + expected)
            }
        }
    }

    @Test func `many users' events go in side by side`() async throws {
        try await onBoth { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in 0..<100 {
                    group.addTask {
                        let handle = "+1555\(1_000_000 + user)"
                        try await store.begin(entry(0, of: handle), dueAt: at(0))
                        for number in 1..<4 { #expect(try await store.append(entry(number, of: handle))) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.count() == 100)
            #expect(
                try await emptied(store, of: "+15551000042") == ["linq/e0", "linq/e1", "linq/e2", "linq/e3"])
        }
    }
}
