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
        var isOver = false
    }

    /// So many verdicts are told to the broker at once.
    static let lot = 64

    private let wakeup: Wakeup
    private let contents = Locked(Contents())

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func settle(_ settlement: Settlement) {
        // Left after the end, it is one that comes too late.
        _ = post { contents in
            contents.settlements.append(settlement)
            // The thread comes by itself a little after the first.
            return contents.settlements.count == 1 || contents.settlements.count == Self.lot
        }
    }

    func send(_ command: Command) {
        let isTaken = post { contents in
            contents.commands.append(command)
            return true
        }
        if !isTaken { command.end() }
    }

    /// - Parameter change: Returns whether the thread is to be woken for it.
    private func post(_ change: (inout Contents) -> Bool) -> Bool {
        let (isTaken, mustSignal) = contents.withLock { contents in
            guard !contents.isOver else { return (false, false) }
            return (true, change(&contents))
        }
        if mustSignal { wakeup.signal() }
        return isTaken
    }

    /// Takes nothing from now on, and answers whoever waits for a subscription's end.
    func finish() {
        contents.withLock { $0.isOver = true }
        for command in take().commands { command.end() }
    }

    /// How many verdicts wait, and whether a command does.
    var waiting: (settlements: Int, command: Bool) {
        contents.withLock { ($0.settlements.count, !$0.commands.isEmpty) }
    }

    /// Everything since the last call.
    ///
    /// A settlement left before a command is in the same or an earlier lot.
    func take() -> (settlements: [Settlement], commands: [Command]) {
        contents.withLock { contents in
            defer {
                contents.settlements = []
                contents.commands = []
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
