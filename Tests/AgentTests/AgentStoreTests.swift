import Crypto
import Database
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import Agent

@Suite struct `Agent store` {
    private let keyring: Keyring
    private let hashKey = HMACKey(Array("a key for tests only".utf8))

    init() throws {
        keyring = try Keyring(fileTexts: ["k1:" + Data(repeating: 7, count: 32).base64EncodedString()])
    }

    /// Runs the body once on SQLite and once on PostgreSQL.
    private func onBoth(_ body: (AgentStore, Database) async throws -> Void) async throws {
        let log = Log(service: "test", level: .error)
        try await TemporaryDirectory.with { directory in
            let database = try await Database.open("sqlite:\(directory)/a.sqlite", log: log, metrics: Metrics())
            let store = AgentStore(database, hashKey: hashKey, keyring: keyring)
            try await store.migrate()
            try await body(store, database)
            await store.close()
        }
        try await PrivatePostgreSQL.with { server in
            let database = try await Database.open(server.url, log: log, metrics: Metrics())
            let store = AgentStore(database, hashKey: hashKey, keyring: keyring)
            try await store.migrate()
            try await body(store, database)
            await store.close()
        }
    }

    private func outgoing(_ id: String) throws -> Outgoing {
        let time = Timestamp(millisecondsSince1970: 0)
        let reply = ReplyRequest(
            chat: Chat(id: "c", isGroup: false), to: "+15550000001", idempotencyKey: id,
            parts: [MessagePart(type: "text", value: "hi")], receivedAt: nil, expiresAt: time)
        return try Outgoing(
            reply, type: ReplyRequest.type, id: id, to: .replies, key: "c", partitions: 16, time: time, traceparent: nil
        )
    }

    private func commit(
        _ keys: [String], version: Int64 = 0, handle: String = "+15550000001", model: String = "{}", due: Int64? = nil,
        outgoing: [Outgoing] = []
    ) -> AgentStore.Commit {
        var state = UserState(handle: handle)
        state.model = model
        let start = Timestamp(millisecondsSince1970: 1000)
        state.session = UserState.Session(
            id: "s-\(handle)", startedAt: start, lastActivityAt: start, cardGeneration: 0, cardStartedAt: start,
            isOpen: true, isByIMessage: true)
        return AgentStore.Commit(
            eventKeys: keys, version: version, handle: handle, state: state, partition: Partition.of(handle, among: 16),
            dueAt: due.map { Timestamp(millisecondsSince1970: $0) }, outgoing: outgoing,
            at: Timestamp(millisecondsSince1970: 1000))
    }

    @Test(.timeLimit(.minutes(3))) func `state and output are stored together, and a copy finds the output`()
        async throws
    {
        try await onBoth { store, _ in
            let fresh = try await store.load(handle: "+15550000001", eventKeys: ["linq/1", "message/m1"])
            #expect(!fresh.isSeen && fresh.state == nil && fresh.version == 0)
            let out = [try outgoing("a"), try outgoing("b")]
            #expect(
                try await store.commit(commit(["linq/1", "message/m1"], model: "{\"x\":1}", outgoing: out))
                    == .committed)

            let copy = try await store.load(handle: "+15550000001", eventKeys: ["linq/1", "message/m1"])
            #expect(copy.isSeen && copy.version == 1)
            #expect(copy.outgoing == out)
            #expect(copy.state?.model == "{\"x\":1}")

            try await store.forgetOutgoing(of: "linq/1")
            #expect(try await store.load(handle: "+15550000001", eventKeys: ["linq/1"]).outgoing.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `the same text under another event id is seen`() async throws {
        try await onBoth { store, _ in
            _ = try await store.commit(commit(["linq/1", "message/m1"]))
            #expect(try await store.load(handle: "+15550000001", eventKeys: ["linq/2", "message/m1"]).isSeen)
            #expect(try await store.commit(commit(["linq/2", "message/m1"], version: 1)) == .conflict)
            // The refused commit has left nothing behind, its own event id least of all.
            #expect(try await !store.load(handle: "+15550000001", eventKeys: ["linq/2"]).isSeen)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `a state that has changed meanwhile is not overwritten`() async throws {
        try await onBoth { store, _ in
            _ = try await store.commit(commit(["linq/1"], model: "one"))
            #expect(try await store.commit(commit(["linq/2"], version: 1, model: "two")) == .committed)
            #expect(try await store.commit(commit(["linq/3"], version: 1, model: "three")) == .conflict)
            #expect(try await store.commit(commit(["linq/4"], version: 0, model: "four")) == .conflict)
            let loaded = try await store.load(handle: "+15550000001", eventKeys: ["linq/3"])
            #expect(!loaded.isSeen && loaded.version == 2 && loaded.state?.model == "two")
        }
    }

    @Test(.timeLimit(.minutes(3))) func `of two that commit one event at once, one wins`() async throws {
        try await onBoth { store, _ in
            let results = try await withThrowingTaskGroup(of: AgentStore.CommitResult.self) { group in
                for _ in 0..<20 { group.addTask { try await store.commit(commit(["linq/same"])) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .committed } == 1)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `many users commit side by side`() async throws {
        try await onBoth { store, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in 0..<300 {
                    group.addTask {
                        let handle = "+1555\(1_000_000 + user)"
                        for event in 0..<3 {
                            let keys = ["linq/\(user).\(event)"]
                            let loaded = try await store.load(handle: handle, eventKeys: keys)
                            let result = try await store.commit(
                                commit(keys, version: loaded.version, handle: handle, model: "\(event)"))
                            #expect(result == .committed)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.load(handle: "+15551000299", eventKeys: []).version == 3)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `sessions that are due are found in the partitions asked for`() async throws {
        try await onBoth { store, _ in
            _ = try await store.commit(commit(["e/1"], handle: "+15550000001", due: 500))
            _ = try await store.commit(commit(["e/2"], handle: "+15550000002", due: 5000))
            let now = Timestamp(millisecondsSince1970: 1000)
            let own = Partition.of("+15550000001", among: 16)
            let due = try await store.due(at: now, partitions: [own])
            #expect(due.map(\.handle) == ["+15550000001"])
            #expect(due.map(\.sessionID) == ["s-+15550000001"])
            #expect(try await store.due(at: now, partitions: (0..<16).filter { $0 != own }).isEmpty)
            // What another replica does not get round to holds nothing up here.
            let other = try #require(
                (3..<100).map { "+155500000\($0)" }.first { Partition.of($0, among: 16) != own })
            _ = try await store.commit(commit(["e/3"], handle: other, due: 100))
            #expect(try await store.due(at: now, partitions: [own], limit: 1).map(\.handle) == ["+15550000001"])
            // Nor does a user whose agent is away, for hours maybe.
            let entry = DeferredStore.Entry(
                handle: "+15550000001", eventKey: "linq/x", partition: own, at: now, body: [1])
            try await store.deferred.begin(entry, dueAt: now)
            #expect(try await store.due(at: now, partitions: [own]).isEmpty)
            try await store.deferred.remove("linq/x", of: "+15550000001", at: now)
            #expect(try await store.due(at: now, partitions: [own]).count == 1)
        }
    }

    private func replaced(_ database: Database) async throws -> [String] {
        let rows = try await database.read { try $0.run("SELECT event_key FROM replaced_state ORDER BY event_key") }
        return try rows.map { try $0.text("event_key") }
    }

    /// Makes way for an empty state of `handle`, once for each of the users.
    private func makeWay(_ users: [String?], _ handle: String, _ store: AgentStore) async throws {
        for user in users {
            var old = UserState(handle: handle)
            old.userID = user
            let key = "e/\(user ?? "nobody")"
            let version = try await store.load(handle: handle, eventKeys: []).version
            let commit = AgentStore.Commit(
                eventKeys: [key], version: version, handle: handle, state: UserState(handle: handle), replaced: old,
                partition: 0, dueAt: nil, outgoing: [], at: Timestamp(millisecondsSince1970: 1000))
            #expect(try await store.commit(commit) == .committed)
        }
    }

    private func erase(_ user: String, _ handle: String, for owner: String?, _ store: AgentStore) async throws {
        let change = IdentityChanged(userID: nil, canonicalHandle: handle, isErased: true, erasedUserID: user)
        let record = RegistryRecord(generation: 1, userID: owner, canonicalHandle: handle, devices: [])
        let commit = AgentStore.Commit(
            eventKeys: ["erase/\(user)"], version: try await store.load(handle: handle, eventKeys: []).version,
            handle: handle, state: nil, erasure: AgentStore.Erasure(change: change, owner: record), partition: 0,
            dueAt: nil, outgoing: [], at: Timestamp(millisecondsSince1970: 1000))
        #expect(try await store.commit(commit) == .committed)
    }

    @Test(.timeLimit(.minutes(3))) func `a state that is gone is gone, and those that made way are kept until then`()
        async throws
    {
        try await onBoth { store, database in
            let handle = "+15550000001"
            _ = try await store.commit(commit(["linq/1"]))
            try await makeWay([nil, "u", "v"], handle, store)
            #expect(try await replaced(database) == ["e/nobody", "e/u", "e/v"])
            try await erase("u", handle, for: "v", store)
            let loaded = try await store.load(handle: handle, eventKeys: [])
            #expect(loaded.state == nil && loaded.version == 0)
            #expect(try await replaced(database) == ["e/nobody", "e/v"])
            try await erase("v", handle, for: nil, store)
            #expect(try await replaced(database).isEmpty)
            #expect(try await store.commit(commit(["linq/4"])) == .committed)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `a new key seals and the old one opens, until all is sealed anew`() async throws
    {
        func ring(_ ids: String...) throws -> Keyring {
            try Keyring(
                fileTexts: ids.map { id in
                    "\(id):" + Data(repeating: UInt8(id.utf8.last ?? 0), count: 32).base64EncodedString()
                })
        }
        try await onBoth { _, database in
            let handles = (0..<450).map { "+1555\(1_000_000 + $0)" }
            func store(_ ids: String...) throws -> AgentStore {
                let keys = try ids.count == 1 ? ring(ids[0]) : ring(ids[0], ids[1])
                return AgentStore(database, hashKey: hashKey, keyring: keys)
            }
            let old = try store("k1")
            for handle in handles { _ = try await old.commit(commit(["linq/\(handle)"], handle: handle)) }
            try await makeWay(["u"], handles[0], old)
            let both = try store("k2", "k1")
            #expect(try await both.load(handle: handles[1], eventKeys: []).state?.handle == handles[1])
            _ = try await both.commit(commit(["linq/new"], handle: "+15559999999"))
            #expect(try await both.resealing.run() == handles.count + 1)
            #expect(try await both.resealing.run() == 0)
            let new = try store("k2")
            for handle in handles {
                #expect(try await new.load(handle: handle, eventKeys: []).state?.handle == handle)
            }
            try await erase("u", handles[0], for: nil, new)
            #expect(try await replaced(database).isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `old events are forgotten, newer ones are not`() async throws {
        try await onBoth { store, _ in
            _ = try await store.commit(commit(["linq/1"]))
            #expect(try await store.prune(before: Timestamp(millisecondsSince1970: 1000)) == 0)
            #expect(try await store.load(handle: "x", eventKeys: ["linq/1"]).isSeen)
            #expect(try await store.prune(before: Timestamp(millisecondsSince1970: 1001)) == 1)
            #expect(try await !store.load(handle: "x", eventKeys: ["linq/1"]).isSeen)
        }
    }

    @Test(.timeLimit(.minutes(3))) func `neither a handle nor a model is readable in the database's files`()
        async throws
    {
        let log = Log(service: "test", level: .error)
        try await TemporaryDirectory.with { directory in
            let database = try await Database.open("sqlite:\(directory)/a.sqlite", log: log, metrics: Metrics())
            let store = AgentStore(database, hashKey: hashKey, keyring: keyring)
            try await store.migrate()
            _ = try await store.commit(commit(["linq/1"], model: "canary-model", outgoing: [try outgoing("a")]))
            await store.close()
            for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(file)"))
                for canary in ["+15550000001", "canary-model"] {
                    #expect(bytes.range(of: Data(canary.utf8)) == nil, "\(canary) in \(file)")
                }
            }
        }
    }
}

@Suite struct `Requests in batches` {
    @Test(.timeLimit(.minutes(3))) func `requests are answered in their places, many at a time`() async throws {
        let batches = Locked<[Int]>([])
        let batcher = Batcher<Int, Int>(limit: 50) { requests in
            batches.withLock { $0.append(requests.count) }
            await Task.yield()
            return requests.map { $0 * 2 }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 { group.addTask { try await batcher.submit(number) == number * 2 } }
            for try await isRight in group { #expect(isRight) }
        }
        let sizes = batches.withLock { $0 }
        #expect(sizes.reduce(0, +) == 500)
        #expect(sizes.allSatisfy { (1...50).contains($0) })
    }

    @Test(.timeLimit(.minutes(3))) func `what the work throws, every request of the batch gets`() async throws {
        struct Broken: Error {}
        let batcher = Batcher<Int, Int> { requests in
            if requests.contains(13) { throw Broken() }
            return requests
        }
        await #expect(throws: Broken.self) { _ = try await batcher.submit(13) }
        #expect(try await batcher.submit(7) == 7)
    }
}
