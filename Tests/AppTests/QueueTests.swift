import Foundation
import Shared
import Testing

@testable import RegistrationCore

@Suite struct QueueTests {
    static let schedule = RetrySchedule(base: 10, cap: 100, longest: 900)
    let now = Date(timeIntervalSince1970: 1_800_000_000)

    static func start(_ token: String) -> Report { .startToken(attributesType: "CoachAttributes", token: token) }

    static func card(_ id: String, session: String? = "s1") -> RunningActivity {
        RunningActivity(id: id, attributesType: "CoachAttributes", sessionID: session)
    }

    @Test func `a newer token takes the place of one that waits`() {
        var queue = ReportQueue()
        _ = queue.add(Self.start("aa"), id: "1", at: now)
        _ = queue.add(.activity(Self.card("A"), token: "bb"), id: "2", at: now)
        _ = queue.add(Self.start("cc"), id: "3", at: now)
        #expect(queue.takeStartable(at: now).map(\.id) == ["2", "3"])
        #expect(queue.takeStartable(at: now).isEmpty)
    }

    @Test func `a newer token waits for the older one that is under way, so that it comes last`() {
        var queue = ReportQueue()
        _ = queue.add(Self.start("aa"), id: "1", at: now)
        #expect(queue.takeStartable(at: now).map(\.id) == ["1"])
        _ = queue.add(Self.start("bb"), id: "2", at: now)
        _ = queue.add(Self.start("cc"), id: "3", at: now)
        #expect(queue.takeStartable(at: now).isEmpty)
        #expect(queue.finished("1", .failed(retryAfter: nil), at: now, Self.schedule) == .superseded)
        #expect(queue.takeStartable(at: now).map(\.id) == ["3"])
    }

    @Test func `a try that waits for its time is given up for a newer token`() throws {
        var queue = ReportQueue()
        _ = queue.add(Self.start("aa"), id: "1", at: now)
        _ = queue.takeStartable(at: now)
        let verdict = queue.finished("1", .failed(retryAfter: nil), at: now, Self.schedule)
        guard case .retry(let delay) = verdict else { throw Unexpected(what: "\(verdict)") }
        #expect((5...10).contains(delay))
        #expect(queue.add(Self.start("bb"), id: "2", at: now + 1).cancelled == ["1"])
        #expect(queue.takeStartable(at: now + 1).map(\.id) == ["2"])
        #expect(queue.finished("1", .accepted, at: now, Self.schedule) == .superseded)
        #expect(queue.contains("2"))
    }

    @Test func `the same token again is told once, unless its try waits for its time`() {
        var queue = ReportQueue()
        #expect(queue.add(Self.start("aa"), id: "1", at: now).isNew)
        #expect(!queue.add(Self.start("aa"), id: "2", at: now).isNew)
        _ = queue.takeStartable(at: now)
        #expect(!queue.add(Self.start("aa"), id: "3", at: now).isNew)
        _ = queue.finished("1", .failed(retryAfter: nil), at: now, Self.schedule)
        let again = queue.add(Self.start("aa"), id: "4", at: now)
        #expect(again.isNew && again.cancelled == ["1"])
    }

    @Test func `what runs is told after all before it and before all after it`() {
        var queue = ReportQueue()
        _ = queue.add(.activity(Self.card("A"), token: "aa"), id: "1", at: now)
        _ = queue.add(.running(["A"]), id: "2", at: now)
        _ = queue.add(.activity(Self.card("B"), token: "bb"), id: "3", at: now)
        #expect(queue.takeStartable(at: now).map(\.id) == ["1"])
        #expect(queue.finished("1", .accepted, at: now, Self.schedule) == .settled)
        #expect(queue.takeStartable(at: now).map(\.id) == ["2"])
        #expect(queue.takeStartable(at: now).isEmpty)
        #expect(queue.finished("2", .accepted, at: now, Self.schedule) == .settled)
        #expect(queue.takeStartable(at: now).map(\.id) == ["3"])
    }

    @Test func `a card that is gone needs no token any more`() {
        var queue = ReportQueue()
        _ = queue.add(.activity(Self.card("A"), token: "aa"), id: "1", at: now)
        _ = queue.add(.gone(Self.card("A"), .dismissed), id: "2", at: now)
        #expect(queue.takeStartable(at: now).map(\.id) == ["2"])
    }

    @Test func `a credential that is refused is renewed at once, and then with patience`() throws {
        var queue = ReportQueue()
        _ = queue.add(Self.start("aa"), id: "1", at: now)
        _ = queue.takeStartable(at: now)
        #expect(queue.finished("1", .unauthorized, at: now, Self.schedule) == .retry(after: 0))
        let second = queue.finished("1", .unauthorized, at: now, Self.schedule)
        guard case .retry(let delay) = second, delay >= 5 else { throw Unexpected(what: "\(second)") }
    }

    @Test func `waits grow to a cap, and are at least what the registry asks for, within reason`() {
        let schedule = Self.schedule
        #expect(schedule.delay(after: 1, retryAfter: nil, random: 0) == 5)
        #expect(schedule.delay(after: 2, retryAfter: nil, random: 0.999) > 19)
        #expect(schedule.delay(after: 60, retryAfter: nil, random: 0) == 50)
        #expect(schedule.delay(after: 1, retryAfter: 60, random: 0) == 60)
        #expect(schedule.delay(after: 1, retryAfter: 1e9, random: 0) == 900)
    }

    @Test func `the queue is bounded, and what can do no good any more is forgotten`() {
        var queue = ReportQueue()
        for number in 0..<(ReportQueue.mostPending + 20) {
            _ = queue.add(.activity(Self.card("\(number)"), token: "aa"), id: "\(number)", at: now)
        }
        #expect(queue.pending.count == ReportQueue.mostPending)
        #expect(queue.pending.first?.id == "20")
        #expect(queue.takeStartable(at: now + ReportQueue.longestOfActivity + 1).isEmpty)
        #expect(queue.pending.isEmpty)
    }

    @Test(arguments: [
        (204, ReportQueue.Outcome.accepted), (200, .accepted), (401, .unauthorized), (404, .refused), (403, .refused),
        (400, .refused), (413, .refused), (302, .refused), (408, .failed(retryAfter: 7)),
        (429, .failed(retryAfter: 7)), (500, .failed(retryAfter: 7)), (503, .failed(retryAfter: 7)),
    ])
    func `each answer has its meaning`(status: Int, outcome: ReportQueue.Outcome) {
        #expect(ReportQueue.Outcome(TransportAnswer(status: status, retryAfter: 7, body: Data())) == outcome)
    }
}

struct Unexpected: Error {
    let what: String
}
