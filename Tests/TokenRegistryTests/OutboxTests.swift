import AMQP
import Database
import Foundation
import HTTPServer
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

@Suite struct OutboxTests {
    @Test func `what the broker did not take is published later, once, in order`() async throws {
        try await Bench.with { bench in
            bench.brokerFailure.withLock { $0 = .notConnected }
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            #expect(try await bench.outbox.workBatch() == false)
            #expect(bench.published.withLock { $0.count } == 0)
            bench.brokerFailure.withLock { $0 = nil }
            let events = try await bench.events()
            #expect(events.map(\.type) == ["isthmus.identity.changed.v1", "isthmus.island.reachable.v1"])
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func `a message has the properties of its event and its handle's partition`() async throws {
        try await Bench.with { bench in
            let sent = Locked<[(AMQPMessage, String)]>([])
            let outbox = Outbox(
                store: bench.store, cache: nil, partitions: 16, log: bench.log, metrics: Metrics()
            ) { message, key throws(PublishError) in sent.withLock { $0.append((message, key)) } }
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            _ = try await outbox.workBatch()
            let (message, key) = try #require(sent.withLock { $0.first })
            let event = try CloudEvent<InboundEvent>(decoding: message.body)
            #expect(key == Partition.name(Partition.of("+12025559876", among: 16)))
            #expect(message.id == event.id)
            #expect(message.type == event.type)
            #expect(message.contentType == "application/cloudevents+json")
            #expect(message.persistent)
            #expect(event.source == "token-registry")
        }
    }

    @Test func `an event goes out in the trace of the call that caused it`() async throws {
        try await Bench.with { bench in
            let sent = Locked<[String: (AMQPMessage, Trace?)]>([:])
            let outbox = Outbox(
                store: bench.store, cache: nil, partitions: 16, log: bench.log, metrics: Metrics()
            ) { message, _ throws(PublishError) in
                let handle = (try? CloudEvent<InboundEvent>(decoding: message.body))?.data.handle ?? ""
                sent.withLock { $0[handle] = (message, Trace.current) }
            }
            let told = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            _ = try await bench.call(
                "PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#,
                headers: [("traceparent", told), ("tracestate", "one=1")])
            _ = try await bench.call("PUT", "/v1/users/kim/handles", #"{"handles":["+12025550001"]}"#)
            _ = try await outbox.workBatch()
            let (message, trace) = try #require(sent.withLock { $0["+12025559876"] })
            #expect(message.headers["traceparent"] == told)
            #expect(try CloudEvent<InboundEvent>(decoding: message.body).traceparent == told)
            #expect(trace?.context.traceparent == told && trace?.context.state == "one=1")
            // Without one a trace begins with the call.
            let (other, own) = try #require(sent.withLock { $0["+12025550001"] })
            #expect(own != nil && own?.context.traceparent == other.headers["traceparent"])
            #expect(own?.context.traceID != trace?.context.traceID)
        }
    }

    @Test func `what a process left behind another one finishes, after a while`() async throws {
        try await TemporaryDirectory.with { folder in
            let url = "sqlite:\(folder)/registry.sqlite"
            try await Bench.with(url: url) { bench in
                _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            }
            try await Bench.with(url: url) { bench in
                let counts = [try await bench.events().count, try await later(bench), try await bench.events().count]
                #expect(counts == [0, 1, 0])
            }
        }
    }

    @Test func `what was written before the clock was put back does not wait for that time`() async throws {
        try await TemporaryDirectory.with { folder in
            let url = "sqlite:\(folder)/registry.sqlite"
            try await Bench.with(url: url) { bench in
                bench.clock.advance(by: .seconds(3600))
                _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            }
            try await Bench.with(url: url) { bench in
                // News for the cache that this process has not got rid of, likewise from an hour ahead.
                let ahead = Timestamp(bench.clock.now.addingTimeInterval(3600))
                try await bench.database.transaction { [store = bench.store] transaction in
                    _ = try OutboxRows(transaction: transaction, vault: store.vault).addStaleEntry(
                        "+12025559876", generation: 1, owner: store.instance, at: ahead)
                }
                #expect(try await bench.events().map(\.handle) == ["+12025559876"])
                let rows = try await bench.database.read { try $0.run("SELECT id FROM registry_outbox") }
                #expect(rows.isEmpty)
            }
        }
    }

    private func later(_ bench: Bench) async throws -> Int {
        bench.clock.advance(by: .seconds(6))
        return try await bench.events().count
    }

    @Test func `an entry that cannot be opened is kept aside and holds nothing up`() async throws {
        try await Bench.with { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            try await bench.database.transaction { transaction in
                try transaction.run("UPDATE registry_outbox SET sealed = $1", [.blob([1, 2, 3])])
            }
            _ = try await bench.call("PUT", "/v1/users/kim/handles", #"{"handles":["+12025550001"]}"#)
            #expect(try await bench.events().map(\.handle) == ["+12025550001"])
            let rows = try await bench.database.read { try $0.run("SELECT kind FROM registry_outbox") }
            #expect(try rows.map { try $0.text("kind") } == ["unreadable"])
        }
    }
}
