import TestSupport
import Testing

@testable import AMQP

@Suite struct ConfirmTrackerTests {
    @Test func `a hundred thousand random steps agree with a plain model`() {
        var random = SeededRandom(seed: 20_260_301)
        var tracker = ConfirmTracker<Int>()
        var model = Model()
        for step in 0..<100_000 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<55:
                // Few names, so that the same one is in flight more than once.
                let name = Int.random(in: 0..<40, using: &random)
                tracker.sent(name)
                model.sent.append((name, .waiting))
            case 55..<65:
                let name = Int.random(in: 0..<50, using: &random)
                tracker.returned { $0 == name }
                model.returned(name)
            case 65..<97:
                let last = model.sent.count
                // Some numbers were answered long ago, some were never given.
                let tag = Int.random(in: max(0, last - 60)...last + 2, using: &random)
                let multiple = Int.random(in: 0..<8, using: &random) == 0
                let confirmed = Int.random(in: 0..<5, using: &random) != 0
                var completed: [Completion] = []
                tracker.answered(UInt64(tag), multiple: multiple, confirmed: confirmed) { name, outcome in
                    completed.append(Completion(name: name, outcome: outcome))
                }
                #expect(completed == model.answered(tag, multiple: multiple, confirmed: confirmed), "step \(step)")
            case 97..<99:
                #expect(tracker.oldestOpen() == model.oldestOpen())
                #expect(tracker.abandonOldest() == model.abandonOldest(), "step \(step)")
            default:
                guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
                #expect(tracker.reset() == model.reset(), "step \(step)")
            }
            #expect(tracker.unanswered == model.unanswered, "step \(step)")
        }
    }

    @Test func `a message that was returned is unroutable although it is acknowledged`() {
        var tracker = ConfirmTracker<String>()
        for name in ["a", "b", "c"] { tracker.sent(name) }
        tracker.returned { $0 == "b" }
        var completed: [String] = []
        tracker.answered(3, multiple: true, confirmed: true) { completed.append("\($0) \($1)") }
        #expect(completed == ["a confirmed", "b unroutable", "c confirmed"])
        #expect(tracker.unanswered == 0)
    }

    @Test func `an abandoned message stays in the window until the broker answers`() {
        var tracker = ConfirmTracker<String>()
        tracker.sent("a")
        #expect(tracker.abandonOldest() == "a")
        #expect(tracker.oldestOpen() == nil)
        #expect(tracker.unanswered == 1)
        var completed: [String] = []
        tracker.answered(1, multiple: false, confirmed: true) { name, _ in completed.append(name) }
        #expect(completed.isEmpty)
        #expect(tracker.unanswered == 0)
    }
}

private struct Completion: Equatable {
    let name: Int
    let outcome: ConfirmTracker<Int>.Outcome
}

/// What the tracker must do, in the plainest way: every message is kept and looked at every time.
private struct Model {
    enum State { case waiting, returned, abandoned, settled }

    var sent: [(name: Int, state: State)] = []

    var unanswered: Int { sent.count { $0.state != .settled } }

    mutating func returned(_ name: Int) {
        guard let index = sent.firstIndex(where: { $0.state == .waiting && $0.name == name }) else { return }
        sent[index].state = .returned
    }

    mutating func answered(_ tag: Int, multiple: Bool, confirmed: Bool) -> [Completion] {
        let last = multiple && tag == 0 ? sent.count : tag
        guard last >= 1, last <= sent.count else { return [] }
        var completed: [Completion] = []
        for index in (multiple ? 0 : last - 1)..<last {
            switch sent[index].state {
            case .waiting:
                completed.append(Completion(name: sent[index].name, outcome: confirmed ? .confirmed : .refused))
            case .returned:
                completed.append(Completion(name: sent[index].name, outcome: confirmed ? .unroutable : .refused))
            case .abandoned, .settled: break
            }
            sent[index].state = .settled
        }
        return completed
    }

    private var oldest: Int? { sent.firstIndex { $0.state == .waiting || $0.state == .returned } }

    func oldestOpen() -> Int? { oldest.map { sent[$0].name } }

    mutating func abandonOldest() -> Int? {
        guard let oldest else { return nil }
        sent[oldest].state = .abandoned
        return sent[oldest].name
    }

    mutating func reset() -> [Int] {
        defer { sent = [] }
        return sent.filter { $0.state == .waiting || $0.state == .returned }.map(\.name)
    }
}
