import Runtime

/// Where other threads leave what the consumer's connection shall do.
final class ConsumerInbox: Sendable {
    enum Command: Sendable {
        case open(AMQPSubscription)
        case close(AMQPSubscription, done: @Sendable () -> Void)
        case count(queue: String, done: @Sendable (Result<Int, AMQPError>) -> Void)
    }

    /// A verdict on a delivery, for the channel it came on and no other.
    struct Settlement: Sendable {
        let channel: UInt16
        let epoch: UInt64
        let tag: UInt64
        let verdict: AcknowledgementLedger.Verdict
    }

    private struct Contents {
        var commands: [Command] = []
        var settlements: [Settlement] = []
        var isSignalled = false
        var isOver = false
    }

    private let wakeup: Wakeup
    private let contents = Locked(Contents())

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func settle(_ settlement: Settlement) {
        // Left after the end, it is one that comes too late.
        _ = post { $0.settlements.append(settlement) }
    }

    func send(_ command: Command) {
        if !post({ $0.commands.append(command) }) { command.end() }
    }

    private func post(_ change: (inout Contents) -> Void) -> Bool {
        let (isTaken, mustSignal) = contents.withLock { contents in
            guard !contents.isOver else { return (false, false) }
            change(&contents)
            defer { contents.isSignalled = true }
            return (true, !contents.isSignalled)
        }
        if mustSignal { wakeup.signal() }
        return isTaken
    }

    /// Takes nothing from now on, and answers whoever waits for a subscription's end.
    func finish() {
        contents.withLock { $0.isOver = true }
        for command in take().commands { command.end() }
    }

    /// Everything since the last call.
    ///
    /// A settlement left before a command is in the same or an earlier lot.
    func take() -> (settlements: [Settlement], commands: [Command]) {
        contents.withLock { contents in
            defer {
                contents.settlements = []
                contents.commands = []
                contents.isSignalled = false
            }
            return (contents.settlements, contents.commands)
        }
    }
}

extension ConsumerInbox.Command {
    /// Answers whoever waits for it, there being no connection that could do it.
    func end() {
        switch self {
        case .open: break
        case .close(_, let done): done()
        case .count(let queue, let done): done(.failure(AMQPError(.connection, "count \(queue)", "not connected")))
        }
    }
}
