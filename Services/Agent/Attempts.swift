import Runtime
import Shared

/// Keeps an event that ends the process from doing so for ever, and from taking others along.
///
/// An attempt is noted before an event that came again is worked, and forgotten when it has come to an end: what is left
/// was in hand when a process died. Such an event is a suspect and is worked while no other suspect is, so that the
/// innocent get through and the one that is to blame reaches the limit.
final class Attempts: Sendable {
    /// A suspect that was begun so often is parked.
    static let limit = 4

    struct TooMany: Error, CustomStringConvertible {
        let description = "the process has ended each time that it was worked"
    }

    private let store: AttemptStore
    private let clock: WallClock
    private let turnstile = Turnstile()

    init(_ store: AttemptStore, clock: WallClock) {
        self.store = store
        self.clock = clock
    }

    /// The attempt at one delivery, which may take several tries.
    struct Attempt: Sendable {
        let eventKey: String
        fileprivate var isNoted = false
        fileprivate var isSuspect = false
    }

    func attempt(at eventKey: String) -> Attempt { Attempt(eventKey: eventKey) }

    /// Works an event, alone if it is a suspect.
    ///
    /// - Throws: `TooMany`, or what `work` throws.
    func run(_ attempt: inout Attempt, _ work: () async throws -> Void) async throws {
        if !attempt.isNoted {
            attempt.isSuspect = try await store.count(of: attempt.eventKey) > 0
        }
        guard attempt.isSuspect else {
            try await note(&attempt)
            return try await work()
        }
        await turnstile.enter()
        defer { turnstile.leave() }
        try await note(&attempt)
        try await work()
    }

    private func note(_ attempt: inout Attempt) async throws {
        guard !attempt.isNoted else { return }
        let count = try await store.begin(attempt.eventKey, at: Timestamp(clock.now))
        attempt.isNoted = true
        guard count <= Self.limit else { throw TooMany() }
    }

    /// The delivery has come to an end, whichever: it is not what ends the process.
    func end(_ attempt: Attempt) async throws {
        if attempt.isNoted { try await store.end(attempt.eventKey) }
    }
}
