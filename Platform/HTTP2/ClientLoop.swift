import Crypto
import Glibc
import Runtime
import Synchronization

/// The thread of one client connection: takes requests, keeps a session open, reconnects.
final class ClientLoop {
    struct Target {
        let host: String
        let port: UInt16
        let tls: TLSContext
        let options: HTTP2ClientOptions
        let log: Log
        let opened: Counter
        let certificateNotAfter: Gauge
        let failed: Counter

        /// The default port is left out (RFC 9110, 4.2.3).
        var authority: String {
            let name = host.contains(":") ? "[\(host)]" : host
            return port == 443 ? name : "\(name):\(port)"
        }
    }

    private enum Phase {
        case idle
        case pausing(until: Double)
        case resolving(until: Double)
        /// With the addresses that are still to be tried if this one does not answer.
        case session(ClientSession, others: ArraySlice<SocketAddress>)
    }

    /// Not all of a host's addresses are tried in one go.
    private static let maxAddresses = 4

    private let shared: ClientConnection
    private let target: Target
    /// Takes over requests that this connection cannot serve; false if there is nobody else.
    private let handOver: @Sendable (PendingRequest) -> Bool
    private var phase = Phase.idle
    private var draining: [ClientSession] = []
    private var resolution: Resolution?
    private var backlog = FIFO<PendingRequest>()
    private var spare: [PendingRequest] = []
    /// No waiting request's deadline is earlier.
    private var earliestDeadline = Double.infinity
    private var failures = 0
    private var stayConnected = false
    private var closing: ClientConnection.Closing?
    private var now = monotonicSeconds()

    init(_ shared: ClientConnection, target: Target, handOver: @escaping @Sendable (PendingRequest) -> Bool) {
        self.shared = shared
        self.target = target
        self.handOver = handOver
    }

    /// Runs until the connection is closed.
    func run() {
        blockBrokenPipeSignal()
        while true {
            takeInbox()
            expireBacklog()
            advancePhase()
            openStreams()
            flushAll()
            removeEnded()
            if closing != nil, finishClosing() { break }
            wait()
        }
        shared.markEnded()
    }

    // MARK: Requests

    private func takeInbox() {
        swapInbox()
        for request in spare {
            earliestDeadline = min(earliestDeadline, request.deadline)
            backlog.append(request)
        }
        spare.removeAll(keepingCapacity: true)
    }

    private func swapInbox() {
        shared.inbox.withLock { inbox in
            inbox.isAsleep = false
            swap(&inbox.requests, &spare)
            inbox.waiting = backlog.count + spare.count
            stayConnected = inbox.stayConnected
            closing = inbox.closing
        }
    }

    private func expireBacklog() {
        guard now >= earliestDeadline else { return }
        let late = backlog.removeAll { $0.deadline <= now }
        earliestDeadline = backlog.all.map(\.deadline).min() ?? .infinity
        for request in late { request.fail(.notProcessed, "no connection in time\(waitingFor)") }
    }

    private var waitingFor: String {
        switch phase {
        case .idle, .pausing: ""
        case .resolving: ": \(target.host) is being looked up"
        case .session(let session, _): session.stage == .ready ? ": no stream was free" : ": connecting"
        }
    }

    private func openStreams() {
        guard case .session(let session, _) = phase, !backlog.isEmpty else { return }
        var free = session.freeStreams
        while free > 0, let request = backlog.popFirst() {
            guard session.open(request, at: now) else { return backlog.prepend(request) }
            free -= 1
        }
    }

    // MARK: Connecting

    private func advancePhase() {
        switch phase {
        case .idle:
            if closing == nil, stayConnected || !backlog.isEmpty { startResolving() }
        case .pausing(let end):
            guard now >= end else { break }
            phase = .idle
            advancePhase()
        case .resolving(let end):
            if let answer = resolution?.answer {
                resolution = nil
                switch answer {
                case .success(let addresses): connect(to: addresses.prefix(Self.maxAddresses), "no address")
                case .failure(let end): connectFailed(end.reason)
                }
            } else if now >= end {
                connectFailed("\(target.host) was not looked up within \(target.options.connectTimeout)")
            }
        case .session(let session, let others): advance(session, others)
        }
    }

    private func startResolving() {
        // An earlier question that is not answered yet will do: there is never more than one thread that asks.
        resolution = resolution ?? Resolution(host: target.host, port: target.port, wakeup: shared.wakeup)
        phase = .resolving(until: now + target.options.connectTimeout.seconds)
    }

    private func connect(to addresses: ArraySlice<SocketAddress>, _ lastReason: String) {
        var addresses = addresses
        var lastReason = lastReason
        while let address = addresses.popFirst() {
            do {
                let session = try ClientSession(
                    address: address, host: target.host, authority: target.authority, tls: target.tls,
                    options: target.options)
                phase = .session(session, others: addresses)
                return
            } catch { lastReason = error.reason }
        }
        connectFailed(lastReason)
    }

    private func connectFailed(_ reason: String) {
        failures += 1
        target.failed.increment()
        target.log.warning("no HTTP/2 connection", ["host": target.authority, "reason": reason])
        pause()
        // Told now rather than at their deadlines: the callers know better what to do meanwhile.
        while let request = backlog.popFirst() {
            if !handOver(request) { request.fail(.notProcessed, "no connection: \(reason)") }
        }
    }

    private func pause() {
        let backoff = Backoff(base: target.options.firstPause, cap: target.options.longestPause)
        phase = .pausing(until: now + backoff.delay(after: failures).seconds)
    }

    private func advance(_ session: ClientSession, _ others: ArraySlice<SocketAddress>) {
        switch session.stage {
        case .connecting, .handshaking, .settling: break
        case .ready:
            guard !shared.isConnected.load(ordering: .relaxed) else { break }
            shared.isConnected.store(true, ordering: .relaxed)
            target.opened.increment()
            if let notAfter = session.certificateNotAfter { target.certificateNotAfter.set(Int(notAfter)) }
            target.log.info("HTTP/2 connected", ["host": target.authority])
        case .draining:
            draining.append(session)
            leave(session, reason: session.goAwayReason.map { "GOAWAY: \($0)" } ?? "no more streams")
        case .ended(let reason):
            guard shared.isConnected.load(ordering: .relaxed) else { return connect(to: others, reason) }
            leave(session, reason: reason)
        }
    }

    /// A session takes no more requests: connect anew, at once unless several in a row were of no use.
    private func leave(_ session: ClientSession, reason: String) {
        shared.isConnected.store(false, ordering: .relaxed)
        if closing == nil {
            target.log.warning("HTTP/2 connection lost", ["host": target.authority, "reason": reason])
        }
        failures = session.wasGood(at: now) ? 0 : failures + 1
        if failures > 1 { pause() } else { phase = .idle }
        advancePhase()
    }

    // MARK: Waiting

    private var sessions: [ClientSession] {
        if case .session(let session, _) = phase { [session] + draining } else { draining }
    }

    private func flushAll() {
        if case .session(let session, _) = phase { session.flush() }
        for session in draining { session.flush() }
    }

    private func removeEnded() {
        draining.removeAll { session in
            if session.openStreams == 0 { session.close() }
            return if case .ended = session.stage { true } else { false }
        }
    }

    private var nextDeadline: Double {
        let own: Double =
            switch phase {
            case .idle, .session: .infinity
            case .pausing(let end), .resolving(let end): end
            }
        return sessions.reduce(min(own, earliestDeadline)) { min($0, $1.nextDeadline) }
    }

    private func wait() {
        let sessions = sessions
        var polled = [pollfd(fd: shared.wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)]
        for session in sessions {
            polled.append(pollfd(fd: session.fileDescriptor, events: session.pollEvents, revents: 0))
        }
        var timeout = Int32(clamping: Int(min(max(0, (nextDeadline - now) * 1000).rounded(.up), 3_600_000)))
        if sessions.contains(where: \.hasMoreInput) || !fallAsleep() { timeout = 0 }
        _ = unsafe poll(&polled, nfds_t(polled.count), timeout)
        now = monotonicSeconds()
        if polled[0].revents != 0 { shared.wakeup.drain() }
        for (session, entry) in zip(sessions, polled.dropFirst()) {
            if entry.revents != 0 || session.hasMoreInput { session.advance(at: now) }
            session.tick(at: now)
        }
    }

    /// False if something was put into the inbox meanwhile.
    private func fallAsleep() -> Bool {
        shared.inbox.withLock { inbox in
            inbox.waiting = backlog.count
            inbox.isAsleep = inbox.requests.isEmpty
            return inbox.isAsleep
        }
    }

    // MARK: Closing

    /// True once nothing is left to wait for.
    private func finishClosing() -> Bool {
        while let request = backlog.popFirst() { request.fail(.notProcessed, "the client is closed") }
        for session in sessions {
            if session.openStreams == 0 { session.close() }
            if case .atOnce = closing { session.end("the client is closed") }
        }
        removeEnded()
        guard case .session(let session, _) = phase else { return draining.isEmpty }
        guard case .ended = session.stage else { return false }
        shared.isConnected.store(false, ordering: .relaxed)
        phase = .idle
        return draining.isEmpty
    }
}
