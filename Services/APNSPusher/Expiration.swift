/// How long APNs may keep a push for a phone that is away.
///
/// Without a limit it would keep it for up to 30 days.
enum Expiration {
    private static let start: Int64 = 10 * 60
    private static let update: Int64 = 15 * 60
    private static let end: Int64 = 4 * 3600

    /// A start that comes later than this would show dead figures.
    static func start(now: Int64) -> Int64 { now + start }

    /// A state that is stale by now is newer than what it replaces, and has its time too.
    static func update(now: Int64, staleDate: Int64, priority: Int) -> Int64 {
        guard staleDate > now else { return now + update }
        return priority == 10 ? min(staleDate, now + update) : staleDate
    }

    /// The ended card would be gone by then anyway; one that should be gone by now has to be told all the same.
    static func end(now: Int64, dismissalDate: Int64?) -> Int64 {
        if let dismissalDate, dismissalDate > now { dismissalDate } else { now + end }
    }
}
