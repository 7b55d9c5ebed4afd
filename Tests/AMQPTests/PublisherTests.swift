import AMQP
import Foundation
import Shared
import TestSupport
import Testing

@Suite struct PublisherTests {
    @Test func `hundreds of messages in flight are all confirmed`() async throws {
        try await Fixtures.shared().withPublisher(window: 256) { publisher in
            let results = Gathered<Result<Void, PublishError>>()
            for number in 0..<2000 {
                publisher.publish(message(number), to: .confirms) { results.append($0) }
            }
            try await eventually("all have their outcome") { results.count == 2000 }
            #expect(results.all.allSatisfy { (try? $0.get()) != nil })
        }
    }

    @Test func `a message that no queue takes is unroutable, its neighbours are not`() async throws {
        try await Fixtures.shared().withPublisher { publisher in
            let outcomes = Gathered<(number: Int, error: PublishError?)>()
            for number in 0..<300 {
                let key = number.isMultiple(of: 3) ? "nobody" : TestQueue.confirms.key
                publisher.publish(message(number), exchange: TestQueue.exchange, routingKey: key) { result in
                    outcomes.append((number, result.error))
                }
            }
            try await eventually("all have their outcome") { outcomes.count == 300 }
            for outcome in outcomes.all {
                #expect(outcome.error == (outcome.number.isMultiple(of: 3) ? .unroutable : nil))
            }
        }
    }

    @Test func `a full queue refuses`() async throws {
        try await Fixtures.shared().withPublisher { publisher in
            var accepted = 0
            var refused = 0
            // Quorum queues let a few more in than the limit says.
            for number in 0..<TestQueue.smallLimit * 2 {
                do throws(PublishError) {
                    try await publisher.publish(message(number), to: .small)
                    accepted += 1
                } catch {
                    #expect(error == .refused)
                    refused += 1
                }
            }
            #expect(accepted >= TestQueue.smallLimit)
            #expect(refused > 0)
        }
    }

    @Test func `what is missing is named, and the publisher is not ready`() async throws {
        let fixtures = try await Fixtures.shared()
        let error = await #expect(throws: AMQPError.self) {
            try await fixtures.withPublisher(
                requires: [.exchange("nowhere.v1"), .queue("inbound.v1.00"), .queue("inbound.v1.03")],
                readyWithin: .seconds(3)
            ) { _ in }
        }
        #expect(error?.kind == .misconfigured)
        #expect(error?.words == "exchange nowhere.v1, queue inbound.v1.03 are missing")
    }

    @Test func `the stages' own topology is found complete`() async throws {
        let requires =
            Stage.allCases.flatMap(TopologyRequirement.publishing)
            + Stage.allCases.flatMap { TopologyRequirement.working($0, partitions: 2) }
        try await Fixtures.shared().withPublisher(requires: requires) { publisher in
            #expect(publisher.state == .ready)
        }
    }

    @Test func `a message that can never be sent is refused before anything is written`() async throws {
        try await Fixtures.shared().withPublisher { publisher in
            let long = String(repeating: "x", count: 256)
            let bad = [
                AMQPMessage(id: "", body: []),
                AMQPMessage(id: long, body: []),
                AMQPMessage(id: "1", headers: [String(repeating: "x", count: 129): ""], body: []),
                AMQPMessage(id: "1", headers: ["big": String(repeating: "x", count: 40_000)], body: []),
                AMQPMessage(id: "1", body: Array(repeating: 0, count: AMQPMessage.maxBody + 1)),
                AMQPMessage(id: "1", expiration: .seconds(-1), body: []),
            ]
            for message in bad {
                let error = await #expect(throws: PublishError.self) {
                    try await publisher.publish(message, to: .confirms)
                }
                guard case .invalid = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            try await publisher.publish(message(1), to: .confirms)
        }
    }

    @Test func `a publisher that never connects refuses at once and says why it is not ready`() async throws {
        let fixtures = try await Fixtures.shared()
        let publisher = AMQPPublisher(
            try AMQPEndpoint(url: "amqp://test:test@127.0.0.1:\(freePort())/"), name: "tests/1/publish",
            options: fixtures.options, log: fixtures.log, metrics: fixtures.metrics)
        publisher.start()
        try await closing(publisher.close) {
            await #expect(throws: PublishError.notConnected) { try await publisher.publish(message(1), to: .confirms) }
            let error = await #expect(throws: AMQPError.self) {
                try await publisher.waitUntilReady(within: .milliseconds(300))
            }
            #expect(error?.kind == .timedOut)
        }
        await #expect(throws: PublishError.closed) { try await publisher.publish(message(1), to: .confirms) }
        #expect(publisher.state == .closed)
    }

    @Test func `of several nodes, one that is there is found`() async throws {
        let fixtures = try await Fixtures.shared()
        let port = fixtures.server.amqpPort
        let url = "amqp://test:test@127.0.0.1:\(try freePort()),127.0.0.1:\(try freePort()),127.0.0.1:\(port)/"
        let publisher = AMQPPublisher(
            try AMQPEndpoint(url: url), name: "tests/1/publish", options: fixtures.options, log: fixtures.log,
            metrics: fixtures.metrics)
        publisher.start()
        try await closing(publisher.close) {
            try await publisher.waitUntilReady(within: .seconds(30))
            try await publisher.publish(message(1), to: .confirms)
        }
    }

    @Test func `a wrong password is refused and not shown`() async throws {
        let fixtures = try await Fixtures.shared()
        let url = "amqp://test:hunter2@127.0.0.1:\(fixtures.server.amqpPort)/"
        let publisher = AMQPPublisher(
            try AMQPEndpoint(url: url), name: "tests/1/publish", options: fixtures.options, log: fixtures.log,
            metrics: fixtures.metrics)
        publisher.start()
        try await closing(publisher.close) {
            try await eventually("it is refused") { publisher.state.description.contains("ACCESS_REFUSED") }
            let error = await #expect(throws: AMQPError.self) { try await publisher.waitUntilReady(within: .zero) }
            #expect(error.map { !"\($0)".contains("hunter2") } == true)
        }
    }

    @Test func `a server that says nothing is given up on`() async throws {
        var fixtures = try await Fixtures.shared()
        fixtures.options.connectTimeout = .milliseconds(500)
        let mute = try MuteServer()
        let publisher = AMQPPublisher(
            try AMQPEndpoint(url: "amqp://test:test@127.0.0.1:\(mute.port)/"), name: "tests/1/publish",
            options: fixtures.options, log: fixtures.log, metrics: fixtures.metrics)
        publisher.start()
        try await closing(publisher.close) {
            try await eventually("the time limit is named") {
                publisher.state.description.contains("timed out")
            }
        }
    }

    @Test func `more messages than the limit are too many`() async throws {
        try await Fixtures.shared().withPublisher(window: 1, maxQueued: 10) { publisher in
            let results = Gathered<PublishError?>()
            for number in 0..<500 {
                publisher.publish(message(number), to: .confirms) { results.append($0.error) }
            }
            try await eventually("all have their outcome") { results.count == 500 }
            #expect(Set(results.all) == [nil, .tooMany])
        }
    }

    @Test func `a message to a missing exchange has an outcome and the publisher recovers`() async throws {
        try await Fixtures.shared().withPublisher { publisher in
            await #expect(throws: PublishError.notConnected) {
                try await publisher.publish(message(1), exchange: "nowhere.v1", routingKey: "")
            }
            try await publisher.waitUntilReady(within: .seconds(30))
            try await publisher.publish(message(2), to: .confirms)
        }
    }

    @Test func `closing waits for what is in flight`() async throws {
        let fixtures = try await Fixtures.shared()
        let results = Gathered<PublishError?>()
        try await fixtures.withPublisher(window: 16) { publisher in
            for number in 0..<500 { publisher.publish(message(number), to: .confirms) { results.append($0.error) } }
        }
        #expect(results.count == 500)
        #expect(Set(results.all) == [nil])
    }
}

/// Takes connections, as far as the kernel does that, and never says a word.
private final class MuteServer {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        port = try freePort()
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, 8) == 0)
    }

    deinit { close(descriptor) }
}

func message(_ number: Int, size: Int = 100) -> AMQPMessage {
    AMQPMessage(
        id: "m-\(number)", type: "test.v1", body: Array(repeating: UInt8(truncatingIfNeeded: number), count: size))
}

extension AMQPPublisher {
    func publish(
        _ message: AMQPMessage, to queue: TestQueue,
        completion: @escaping @Sendable (Result<Void, PublishError>) -> Void
    ) {
        publish(message, exchange: TestQueue.exchange, routingKey: queue.key, completion: completion)
    }

    func publish(_ message: AMQPMessage, to queue: TestQueue) async throws(PublishError) {
        try await publish(message, exchange: TestQueue.exchange, routingKey: queue.key)
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
