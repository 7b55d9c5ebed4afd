import Runtime
import TestSupport
import Testing

@testable import Stage

@Suite struct `Lanes by key` {
    private struct Item: Sendable, Equatable {
        let key: String
        let number: Int
    }

    /// Lets handlers wait until the test says go.
    private final class Gate: Sendable {
        private let signal = StopSignal()

        func open() { signal.fire() }

        func pass() async { _ = await signal.sleep(for: .seconds(60)) }
    }

    private func lanes(
        superseding: Bool = false, skipped: Locked<[Int]> = Locked([]), _ work: @escaping @Sendable (Item) async -> Void
    ) -> Lanes<Item> {
        Lanes(
            isSuperseded: { _, later in superseding && !later.isEmpty },
            skip: { item in skipped.withLock { $0.append(item.number) } }, work: work)
    }

    @Test(.timeLimit(.minutes(3))) func `items of one key are worked one after another, in order`() async throws {
        let seen = Locked<[Int]>([])
        let inHand = Locked(0)
        let overlaps = Locked(0)
        let lanes = lanes { item in
            inHand.withLock { $0 += 1 }
            if inHand.withLock({ $0 }) > 1 { overlaps.withLock { $0 += 1 } }
            await Task.yield()
            seen.withLock { $0.append(item.number) }
            inHand.withLock { $0 -= 1 }
        }
        for number in 0..<500 { lanes.add(Item(key: "a", number: number), key: "a") }
        await lanes.drain()
        #expect(seen.withLock { $0 } == Array(0..<500))
        #expect(overlaps.withLock { $0 } == 0)
    }

    @Test(.timeLimit(.minutes(3))) func `a slow key does not hold up the others`() async throws {
        let gate = Gate()
        let seen = Locked<[String]>([])
        let lanes = lanes { item in
            if item.key == "slow" { await gate.pass() }
            seen.withLock { $0.append(item.key) }
        }
        lanes.add(Item(key: "slow", number: 0), key: "slow")
        for number in 0..<50 { lanes.add(Item(key: "k\(number)", number: number), key: "k\(number)") }
        try await eventually("the other keys are done") { seen.withLock { $0.count } == 50 }
        #expect(!seen.withLock { $0.contains("slow") })
        gate.open()
        await lanes.drain()
        #expect(seen.withLock { $0.last } == "slow")
    }

    @Test(.timeLimit(.minutes(3))) func `what newer items make void is skipped`() async throws {
        let gate = Gate()
        let seen = Locked<[Int]>([])
        let skipped = Locked<[Int]>([])
        let lanes = lanes(superseding: true, skipped: skipped) { item in
            if item.number == 0 { await gate.pass() }
            seen.withLock { $0.append(item.number) }
        }
        for number in 0..<5 { lanes.add(Item(key: "a", number: number), key: "a") }
        #expect(lanes.waiting(behind: "a").map(\.number) == [1, 2, 3, 4])
        gate.open()
        await lanes.drain()
        #expect(seen.withLock { $0 } == [0, 4])
        #expect(skipped.withLock { $0 } == [1, 2, 3])
    }

    @Test(.timeLimit(.minutes(3))) func `stopping finishes what is in hand and leaves the rest alone`() async throws {
        let gate = Gate()
        let seen = Locked<[Int]>([])
        let lanes = lanes { item in
            await gate.pass()
            seen.withLock { $0.append(item.number) }
        }
        for number in 0..<5 { lanes.add(Item(key: "a", number: number), key: "a") }
        lanes.stop()
        lanes.add(Item(key: "b", number: 9), key: "b")
        gate.open()
        await lanes.drain()
        #expect(seen.withLock { $0 } == [0])
    }

    @Test(.timeLimit(.minutes(3))) func `what waits can be taken out, and what comes then waits for what is in hand`()
        async throws
    {
        let gate = Gate()
        let seen = Locked<[Int]>([])
        let lanes = lanes { item in
            if item.number == 0 { await gate.pass() }
            seen.withLock { $0.append(item.number) }
        }
        for number in 0..<3 { lanes.add(Item(key: "a", number: number), key: "a") }
        #expect(lanes.takeWaiting().map(\.number) == [1, 2])
        lanes.add(Item(key: "a", number: 9), key: "a")
        gate.open()
        await lanes.drain()
        #expect(seen.withLock { $0 } == [0, 9])
    }
}

@Suite struct `Stop signal` {
    @Test(.timeLimit(.minutes(3))) func `a sleeper wakes when the signal fires`() async {
        let signal = StopSignal()
        async let slept = signal.sleep(for: .seconds(3600))
        signal.fire()
        #expect(await slept == false)
        #expect(await signal.sleep(for: .seconds(3600)) == false)
    }

    @Test(.timeLimit(.minutes(3))) func `without a signal the whole time passes`() async {
        #expect(await StopSignal().sleep(for: .milliseconds(1)))
    }
}
