import AMQP
import RegistryClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

@Suite struct ClientTests {
    @Test func `all who ask for a handle at once are answered by two questions at most`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let asked = Locked(0)
            let gate = Gate()
            let client = bench.client(nil) {
                asked.withLock { $0 += 1 }
                await gate.pass()
            }
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<50 { group.addTask { try await client.lookup("+12025559876").userID } }
                try await eventually("the first question is on its way") { asked.withLock { $0 } == 1 }
                await gate.open()
                for try await user in group { #expect(user == "sam") }
            }
            #expect(asked.withLock { $0 } <= 2)
        }
    }

    @Test func `a user is found by their id, with the handle that their state is kept under`() async throws {
        try await Bench.with { bench in
            let client = bench.client(nil) {}
            #expect(try await client.lookup(user: "sam").userID == nil)
            try await bench.registerSam()
            let sam = try await client.lookup(user: "sam")
            #expect(sam.userID == "sam" && sam.canonicalHandle == "+12025559876")
            _ = try await bench.call("PUT", "/v1/users/kim/devices/p/start-token", startToken("bb"))
            // Nobody can write to kim, and kim cannot write to us.
            #expect(try await client.lookup(user: "kim").canonicalHandle == "")
            #expect(try await client.lookup(user: "nobody").userID == nil)
        }
    }

    @Test func `who asks while a question is under way gets an answer from after their asking`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let asked = Locked(0)
            let gate = Gate()
            // The first answer is read before the change and arrives after it.
            let stale = try await bench.record("+12025559876")
            let client = RegistryClient(cache: nil, log: bench.log, metrics: Metrics()) { _ throws(PublishError) in
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { await gate.pass() }
                do {
                    let record = isFirst ? stale : try await bench.record("+12025559876")
                    return AMQPMessage(
                        id: "a",
                        body: try CloudEvent(
                            id: "a", source: "t", type: RegistryLookup.answerType,
                            time: Timestamp(millisecondsSince1970: 0), traceparent: nil, data: record
                        ).encoded())
                } catch { throw .timedOut }
            }
            async let first = client.lookup("+12025559876")
            try await eventually("the first question is on its way") { asked.withLock { $0 } == 1 }
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("cc"))
            async let second = client.lookup("+12025559876")
            await gate.open()
            #expect(try await first == stale)
            let tokens = try await second.devices.flatMap(\.startTokens).map(\.token)
            #expect(tokens == [token("cc")])
        }
    }

    @Test func `no more than eight questions are on their way at a time`() async throws {
        try await Bench.with { bench in
            let running = Locked((now: 0, most: 0, all: 0))
            let gate = Gate()
            let client = bench.client(nil) {
                running.withLock { running in
                    running.now += 1
                    running.all += 1
                    running.most = max(running.most, running.now)
                }
                await gate.pass()
                running.withLock { $0.now -= 1 }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 { group.addTask { _ = try await client.lookup("+120255500\(10 + number)") } }
                try await eventually("eight are on their way") { running.withLock { $0.now } == 8 }
                await gate.open()
                try await group.waitForAll()
            }
            #expect(running.withLock { $0.most } == 8)
            #expect(running.withLock { $0.all } == 40)
        }
    }

    @Test func `a grant whose answer was lost is given again to the same asker, to no other`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let start = RegistryStart(
                userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1", generation: 0)
            let losses = Locked(4)
            let questions = Locked<[AMQPMessage]>([])
            let client = RegistryClient(cache: nil, log: bench.log, metrics: Metrics()) {
                message throws(PublishError) in
                questions.withLock { $0.append(message) }
                let answer = await bench.answer(message)
                let isLost = losses.withLock { losses in
                    losses -= 1
                    return losses >= 0
                }
                guard !isLost, let answer else { throw .timedOut }
                return answer
            }
            await #expect(throws: RegistryUnavailable.self) { try await client.requestStart(start) }
            #expect(try await client.requestStart(start).isGranted)
            #expect(Set(questions.withLock { $0.map(\.id) }).count == 1)
            #expect(try await client.requestStart(start).isGranted == false)
            #expect(try await bench.client(nil).requestStart(start).isGranted == false)
        }
    }

    @Test func `a registry that is away is said to be, not guessed at`() async throws {
        let client = RegistryClient(cache: nil, log: Log(service: "test") { _ in }, metrics: Metrics()) {
            _ throws(PublishError) in throw .notConnected
        }
        await #expect(throws: RegistryUnavailable.self) { try await client.lookup("+12025559876") }
        await #expect(throws: RegistryUnavailable.self) { try await client.lookup("+12025559876") }
    }
}

extension Bench {
    /// What the registry answers to a question, as the broker would bring it back.
    func answer(_ question: AMQPMessage) async -> AMQPMessage? {
        let answer = Locked<AMQPMessage?>(nil)
        let questions = Questions(store: store, outbox: outbox, log: log, figures: Figures(metrics)) {
            message, _ throws(PublishError) in answer.withLock { $0 = message }
        }
        var question = question
        question.replyTo = "asker"
        await questions.answer(question)
        return answer.withLock { $0 }
    }
}

/// Holds up all who come until it is opened.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
