import Runtime

/// A bucket of tokens for each user: so many calls at once, then so many a minute.
final class RateLimit: Sendable {
    private static let mostBuckets = 50_000

    private struct Bucket {
        var tokens: Double
        var filledAt: Double
    }

    private let perMinute: Double
    private let now: @Sendable () -> Double
    private let buckets = Locked<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perMinute: Also the size of the bucket.
    ///   - now: Seconds of a clock that never jumps.
    init(perMinute: Int, now: @escaping @Sendable () -> Double = monotonicSeconds) {
        self.perMinute = Double(perMinute)
        self.now = now
    }

    /// Takes a token of `key`'s.
    ///
    /// Returns the whole seconds to wait if there is none, else `nil`.
    func take(_ key: String) -> Int? {
        let now = now()
        return buckets.withLock { buckets in
            if buckets.count >= Self.mostBuckets { forgetFull(&buckets, now) }
            var bucket = buckets[key] ?? Bucket(tokens: perMinute, filledAt: now)
            bucket.tokens = min(perMinute, bucket.tokens + (now - bucket.filledAt) * perMinute / 60)
            bucket.filledAt = now
            defer { buckets[key] = bucket }
            guard bucket.tokens >= 1 else { return Int(((1 - bucket.tokens) * 60 / perMinute).rounded(.up)) }
            bucket.tokens -= 1
            return nil
        }
    }

    /// A full bucket is as good as none.
    ///
    /// If none is full, all start anew: better than growing without end.
    private func forgetFull(_ buckets: inout [String: Bucket], _ now: Double) {
        buckets = buckets.filter { $0.value.tokens + (now - $0.value.filledAt) * perMinute / 60 < perMinute }
        if buckets.count >= Self.mostBuckets { buckets = [:] }
    }
}
