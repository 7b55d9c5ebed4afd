import Runtime

/// What the stand-in for Linq does wrong on demand, for the next requests that send a message.
enum LinqFault: String, Sendable, CaseIterable, Codable {
    /// 429 with `Retry-After`.
    case rateLimited = "rate-limited"
    /// 500/3001.
    case error = "error"
    /// 503/4004.
    case unavailable = "unavailable"
    /// Takes the message and says nothing.
    case timeout = "timeout"
    /// Closes the connection without having taken the message.
    case reset = "reset"
    /// Takes the message and closes the connection.
    case resetAfterAccepting = "reset-after-accepting"
    /// Takes the message and answers 500.
    case errorAfterAccepting = "error-after-accepting"
    /// An HTML error page from the edge.
    case html = "html"
    /// 409/2009.
    case chatBeingCreated = "chat-being-created"
    /// 403/2024 whatever the recipient wants.
    case optedOut = "opted-out"
    /// 401/2004.
    case unauthorized = "unauthorized"
    /// Takes the message and answers 202 without an id.
    case withoutID = "without-id"
}

/// Faults that wait for their requests.
final class FaultQueue<Fault: Sendable>: Sendable {
    private struct Entry {
        let fault: Fault
        /// Seconds, for those that say when to come again.
        let retryAfter: Int
        var left: Int
    }

    private let entries = Locked<[Entry]>([])

    /// The next `count` requests get `fault`, after those that wait already.
    func add(_ fault: Fault, count: Int, retryAfter: Int) {
        entries.withLock { $0.append(Entry(fault: fault, retryAfter: retryAfter, left: count)) }
    }

    func clear() { entries.withLock { $0 = [] } }

    /// The fault for the request at hand.
    func next() -> (fault: Fault, retryAfter: Int)? {
        entries.withLock { entries in
            guard let first = entries.first else { return nil }
            entries[0].left -= 1
            if entries[0].left <= 0 { entries.removeFirst() }
            return (first.fault, first.retryAfter)
        }
    }

    /// Requests that still get a fault.
    var waiting: Int { entries.withLock { $0.reduce(0) { $0 + $1.left } } }
}
