import Runtime
import Synchronization

/// What the world sees of one connection of a client: a place to put requests.
///
/// Behind it is a thread (`ClientLoop`).
final class ClientConnection: Sendable {
    struct Inbox {
        var requests: [PendingRequest] = []
        /// How many the thread has taken that wait for a stream.
        var waiting = 0
        /// The thread waits for the socket and has to be woken.
        var isAsleep = false
        var stayConnected = false
        var closing: Closing?
        var hasEnded = false
        var whenEnded: [CheckedContinuation<Void, Never>] = []
    }

    enum Closing {
        /// Let the open streams finish.
        case whenIdle
        case atOnce
    }

    let inbox = Locked(Inbox())
    let wakeup = Wakeup()
    /// Ready for requests.
    let isConnected = Atomic(false)
    /// Requests for this connection that are not completed; kept by the client.
    let load = Atomic(0)
    private let maxQueued: Int

    init(maxQueued: Int) { self.maxQueued = maxQueued }

    /// Takes a request, or says why not.
    func submit(_ request: PendingRequest) -> String? {
        let (refusal, wake): (String?, Bool) = inbox.withLock { inbox in
            guard inbox.closing == nil else { return ("the client is closed", false) }
            guard inbox.requests.count + inbox.waiting < maxQueued else {
                return ("\(maxQueued) requests wait already", false)
            }
            inbox.requests.append(request)
            defer { inbox.isAsleep = false }
            return (nil, inbox.isAsleep)
        }
        if wake { wakeup.signal() }
        return refusal
    }

    /// Connects now, and again whenever the connection ends.
    func connect() {
        inbox.withLock { $0.stayConnected = true }
        wakeup.signal()
    }

    func beginClosing(_ closing: Closing) {
        inbox.withLock { inbox in
            if case .atOnce = inbox.closing { return }
            inbox.closing = closing
        }
        wakeup.signal()
    }

    /// Waits for the thread's end.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.whenEnded.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// The thread's last act.
    func markEnded() {
        let (requests, waiters) = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { (inbox.requests, inbox.whenEnded) = ([], []) }
            return (inbox.requests, inbox.whenEnded)
        }
        for request in requests { request.fail(.notProcessed, "the client is closed") }
        for waiter in waiters { waiter.resume() }
    }
}
