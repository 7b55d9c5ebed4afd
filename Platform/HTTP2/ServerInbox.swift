import Runtime

/// Where other threads put what the server's thread shall do.
final class ServerInbox: Sendable {
    private struct State {
        var commands: [ServerCommand] = []
        var isAsleep = false
        var hasEnded = false
        var whenEnded: [CheckedContinuation<Void, Never>] = []
    }

    let wakeup = Wakeup()
    private let state = Locked(State())

    /// The answers are bounded by the streams that clients have open.
    func post(_ command: ServerCommand) {
        let wake = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if wake { wakeup.signal() }
    }

    func take() -> [ServerCommand] {
        state.withLock { state in
            state.isAsleep = false
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// False if there is something to do.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    func markEnded() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { (state.commands, state.whenEnded) = ([], []) }
            return state.whenEnded
        }
        for waiter in waiters { waiter.resume() }
    }

    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.whenEnded.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }
}
