/// How long to wait before the next try: exponential, full jitter.
package struct Backoff: Sendable {
    /// The upper bound of the first wait.
    package let base: Duration
    /// The upper bound of every wait.
    package let cap: Duration

    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(30)) {
        self.base = base
        self.cap = cap
    }

    /// The wait after failure number `attempt`, counted from 1.
    ///
    /// - Parameter random: In 0..<1. The wait is spread over the upper half, so that it is never close to nothing.
    package func delay(after attempt: Int, random: Double = .random(in: 0..<1)) -> Duration {
        let doubled = base * (1 << min(max(attempt - 1, 0), 20))
        return min(doubled, cap) * (0.5 + random / 2)
    }
}
