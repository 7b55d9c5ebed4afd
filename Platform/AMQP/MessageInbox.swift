import Runtime

/// Where every thread leaves messages for the connection's thread.
///
/// The connection's thread is woken once for all that gathers until it comes.
final class MessageInbox<Item: Sendable>: Sendable {
    enum Acceptance { case open, refusing(PublishError) }

    private struct Contents {
        var acceptance = Acceptance.refusing(.notConnected)
        var isClosed = false
        var waiting: [Item] = []
        var isSignalled = false
        /// Accepted and without an outcome.
        var outstanding = 0
    }

    private let limit: Int
    private let wakeup: Wakeup
    private let contents = Locked(Contents())

    init(limit: Int, wakeup: Wakeup) {
        self.limit = limit
        self.wakeup = wakeup
    }

    /// Takes the message, or says why not.
    func offer(_ item: Item) -> PublishError? {
        let (refusal, mustSignal): (PublishError?, Bool) = contents.withLock { contents in
            if contents.isClosed { return (.closed, false) }
            if case .refusing(let why) = contents.acceptance { return (why, false) }
            guard contents.outstanding < limit else { return (.tooMany, false) }
            contents.outstanding += 1
            contents.waiting.append(item)
            defer { contents.isSignalled = true }
            return (nil, !contents.isSignalled)
        }
        if mustSignal { wakeup.signal() }
        return refusal
    }

    /// Everything that waits; `completed` messages had their outcome since the last call.
    func take(completed: Int) -> [Item] {
        contents.withLock { contents in
            contents.outstanding -= completed
            contents.isSignalled = false
            defer { contents.waiting = [] }
            return contents.waiting
        }
    }

    func setAcceptance(_ acceptance: Acceptance) { contents.withLock { $0.acceptance = acceptance } }

    /// Refuses everything from now on.
    func close() { contents.withLock { $0.isClosed = true } }
}
