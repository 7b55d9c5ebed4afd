/// What becomes of a message after its handler.
package enum Verdict: Sendable, Equatable {
    /// Its effects are durable: it is acknowledged.
    case done
    /// It can never be worked, or its time has passed: it goes to the stage's parked queue with the reason.
    case park(reason: String)
    /// It cannot be worked now, nor can the others: the whole partition goes back to the queue for `retryAfter`.
    case handBack(retryAfter: Duration)
}
