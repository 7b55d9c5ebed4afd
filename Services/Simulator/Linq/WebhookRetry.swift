import Runtime

/// When Linq tries a webhook again: its documented rules.
struct WebhookRetry: Sendable {
    /// How long Linq waits for an answer.
    static let timeout = Duration.seconds(10)
    /// The first wait; each next one is twice as long.
    static let firstWait = Duration.seconds(2)
    static let longestWait = Duration.seconds(600)
    /// After this Linq gives the event up.
    static let window = Duration.seconds(1800)
    /// Waits are this much longer or shorter, by chance.
    static let jitter = 0.2

    /// How an attempt ended.
    enum Outcome: Sendable, Equatable {
        case answered(status: Int)
        /// No answer within the time, connection refused, reset.
        case network(String)
        /// The receiver's name is not known.
        case noSuchHost(String)
    }

    enum Decision: Sendable, Equatable {
        case done
        case again(after: Duration)
        /// Lost for this endpoint, and why.
        case giveUp(String)
    }

    /// What follows from an attempt.
    ///
    /// - Parameters:
    ///   - attempt: Counted from 1.
    ///   - elapsed: Since the first attempt.
    ///   - random: In 0..<1.
    static func decide(_ outcome: Outcome, attempt: Int, elapsed: Duration, random: Double) -> Decision {
        switch outcome {
        case .answered(let status) where (200..<300).contains(status): return .done
        case .answered(let status) where status == 429 || status >= 500: break
        case .answered(let status): return .giveUp("status \(status) is not tried again")
        case .noSuchHost(let words): return .giveUp(words)
        case .network: break
        }
        let doubled = firstWait * (1 << min(attempt - 1, 20))
        let wait = min(doubled, longestWait) * (1 + jitter * (2 * random - 1))
        guard elapsed + wait <= window else { return .giveUp("not taken within 30 minutes") }
        return .again(after: wait)
    }
}
