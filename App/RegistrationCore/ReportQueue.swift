import Foundation

/// What has to be told to the registry and is not acknowledged yet.
///
/// It decides and does no work: what may begin now, what is superseded, what is tried again. Reports about one thing are told
/// one after the other, those about different things at the same time; a report of what runs waits for all before it,
/// and all after it wait for it, because it says of every card that it does not name that it does not run.
struct ReportQueue: Sendable {
    /// More than an app with many cards and kinds has to say; beyond it the oldest is forgotten, and the next launch says
    /// everything again.
    static let mostPending = 100
    /// A card is gone after twelve hours; nobody has to hear of it any more.
    static let longestOfActivity: TimeInterval = 12 * 3600

    struct Pending: Codable, Sendable, Equatable {
        /// Names this report among all that there ever were, in the file and in a background session's tasks.
        let id: String
        let report: Report
        let addedAt: Date
    }

    /// How one try went.
    enum Outcome: Sendable, Equatable {
        case accepted
        /// It will never be taken; trying again cannot help.
        case refused
        /// The credential was not taken.
        case unauthorized
        case failed(retryAfter: TimeInterval?)
    }

    /// What follows from an outcome.
    enum Verdict: Sendable, Equatable {
        case settled
        case retry(after: TimeInterval)
        /// A newer report has taken its place, or it was never ours.
        case superseded
    }

    private struct Progress: Sendable {
        var isUnderWay = false
        var failures = 0
        var refusedCredentials = 0
        /// When the try that is under way begins, if it waits for its time.
        var beginsAt: Date?
    }

    private(set) var pending: [Pending]
    private var progress: [String: Progress] = [:]

    init(_ pending: [Pending] = []) { self.pending = pending }

    /// Adds a report in place of older ones about the same thing that are not under way.
    ///
    /// - Returns: Whether there is anything new to tell, and tries that wait for their time and need not be made any more.
    mutating func add(_ report: Report, id: String, at now: Date) -> (isNew: Bool, cancelled: [String]) {
        let rivals = pending.filter { $0.report.subject == report.subject }
        if let last = rivals.last, last.report == report, report.subject != .running {
            guard isUnderWay(last.id), let begins = progress[last.id]?.beginsAt, begins > now else {
                return (false, [])
            }
            // The same again while a try waits for its time: the app is awake, so it need not wait.
        }
        let replaced = rivals.filter { !isUnderWay($0.id) || isWaiting($0.id, at: now) }.map(\.id)
        let cancelled = replaced.filter(isUnderWay)
        for id in replaced { remove(id) }
        pending.append(Pending(id: id, report: report, addedAt: now))
        while pending.count > Self.mostPending, let oldest = pending.first(where: { !isUnderWay($0.id) }) {
            remove(oldest.id)
        }
        return (true, cancelled)
    }

    /// Those that may be told now; from here on they are under way.
    mutating func takeStartable(at now: Date) -> [Pending] {
        forgetOld(at: now)
        var startable: [Pending] = []
        var busy: Set<Report.Subject> = []
        for (index, candidate) in pending.enumerated() {
            let subject = candidate.report.subject
            if subject == .running, index > 0 { break }
            if busy.insert(subject).inserted, !isUnderWay(candidate.id) {
                progress[candidate.id, default: Progress()].isUnderWay = true
                progress[candidate.id]?.beginsAt = nil
                startable.append(candidate)
            }
            if subject == .running { break }
        }
        return startable
    }

    /// It could not be handed over; it may be taken again.
    mutating func putBack(_ id: String) {
        progress[id]?.isUnderWay = false
        progress[id]?.beginsAt = nil
    }

    /// An earlier launch of the app had handed these over already.
    mutating func adopt(underWay ids: Set<String>) {
        for item in pending where ids.contains(item.id) { progress[item.id, default: Progress()].isUnderWay = true }
    }

    mutating func finished(_ id: String, _ outcome: Outcome, at now: Date, _ schedule: RetrySchedule) -> Verdict {
        guard let item = pending.first(where: { $0.id == id }) else { return .superseded }
        switch outcome {
        case .accepted, .refused:
            remove(id)
            return .settled
        case .unauthorized:
            progress[id, default: Progress()].refusedCredentials += 1
            // The first time a fresh credential may be all that it takes.
            if progress[id]?.refusedCredentials == 1 { return superseding(item) ?? .retry(after: 0) }
            return superseding(item) ?? retry(id, nil, now, schedule)
        case .failed(let retryAfter): return superseding(item) ?? retry(id, retryAfter, now, schedule)
        }
    }

    /// How often it has failed so far.
    func failures(of id: String) -> Int { progress[id]?.failures ?? 0 }

    func contains(_ id: String) -> Bool { pending.contains { $0.id == id } }

    private mutating func retry(
        _ id: String, _ retryAfter: TimeInterval?, _ now: Date, _ schedule: RetrySchedule
    ) -> Verdict {
        progress[id, default: Progress()].failures += 1
        let delay = schedule.delay(after: failures(of: id), retryAfter: retryAfter)
        progress[id]?.beginsAt = now + delay
        return .retry(after: delay)
    }

    private mutating func superseding(_ item: Pending) -> Verdict? {
        guard let last = pending.last(where: { $0.report.subject == item.report.subject }), last.id != item.id else {
            return nil
        }
        remove(item.id)
        return .superseded
    }

    private func isUnderWay(_ id: String) -> Bool { progress[id]?.isUnderWay ?? false }

    private func isWaiting(_ id: String, at now: Date) -> Bool { (progress[id]?.beginsAt).map { $0 > now } ?? false }

    private mutating func forgetOld(at now: Date) {
        let old = pending.filter { item in
            guard case .activity = item.report.subject, !isUnderWay(item.id) else { return false }
            return now.timeIntervalSince(item.addedAt) > Self.longestOfActivity
        }
        for item in old { remove(item.id) }
    }

    private mutating func remove(_ id: String) {
        pending.removeAll { $0.id == id }
        progress[id] = nil
    }
}
