/// A condition did not come true in time.
package struct NotInTime: Error, CustomStringConvertible {
    /// The sentence that did not come true.
    package let what: String
    package let limit: Duration
    /// What the condition threw when it was last asked.
    package let lastError: (any Error)?

    package var description: String {
        "not within \(limit): \(what)" + (lastError.map { " (\($0))" } ?? "")
    }
}

/// Asks again and again until `condition` is true; throws with the sentence `what` when time is up.
///
/// A condition that throws counts as not true yet. The limit is for what never comes, and far above what a busy machine
/// needs for what does.
package func eventually(
    within limit: Duration = .seconds(90), _ what: String, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    var pause = Duration.milliseconds(1)
    var lastError: (any Error)?
    while true {
        do {
            if try await condition() { return }
            lastError = nil
        } catch {
            lastError = error
        }
        guard ContinuousClock.now < end else { throw NotInTime(what: what, limit: limit, lastError: lastError) }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(50))
    }
}
