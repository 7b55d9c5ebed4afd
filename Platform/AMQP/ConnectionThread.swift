import Foundation
import Glibc
import Runtime
import Shared

/// The thread that owns a connection: connects, listens, works, and connects again until it is closed.
final class ConnectionThread: Sendable {
    /// After so many events the role gets its turn, however much more there is to hear.
    private static let eventsPerTurn = 1024
    /// A connection that held this long makes the next failure a first one again.
    private static let steadySeconds = 10.0

    private struct Life {
        var isStarted = false
        var closeBy: Double?
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let endpoint: AMQPEndpoint
    let name: String
    let log: Log
    let wakeup = Wakeup()
    private let requires: [TopologyRequirement]
    private let options: AMQPOptions
    private let reconnects: Counter
    private let certificateNotAfter: Gauge
    private let current = Locked(AMQPState.connecting("not started"))
    private let life = Locked(Life())

    init(
        _ endpoint: AMQPEndpoint, name: String, requires: [TopologyRequirement], options: AMQPOptions, log: Log,
        metrics: ConnectionMetrics
    ) {
        self.endpoint = endpoint
        self.name = name
        self.requires = requires
        self.options = options
        self.log = log
        reconnects = metrics.reconnects
        certificateNotAfter = metrics.certificateNotAfter
    }

    var state: AMQPState { current.withLock { $0 } }

    func setState(_ state: AMQPState) { current.withLock { $0 = state } }

    /// Starts the thread; a second call does nothing.
    ///
    /// `makeRole` is called on it.
    func start(_ makeRole: @escaping @Sendable () -> any ConnectionRole) {
        let isFirst = life.withLock { life in
            defer { life.isStarted = true }
            return !life.isStarted
        }
        guard isFirst else { return }
        let thread = Thread { [self] in run(makeRole()) }
        thread.name = "amqp-\(name.suffix(10))"
        thread.start()
    }

    /// Waits until the state is `.ready`; throws what stands in the way when the time is over.
    func waitUntilReady(within limit: Duration) async throws {
        let deadline = monotonicSeconds() + limit.seconds
        while state != .ready {
            guard state != .closed else { throw AMQPError(.connection, name, "closed") }
            guard monotonicSeconds() < deadline else { throw notReady() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func notReady() -> AMQPError {
        if case .misconfigured(let what) = state { return AMQPError(.misconfigured, "topology", what) }
        return AMQPError(.timedOut, "wait for \(endpoint)", state.description)
    }

    /// Lets the role finish within `limit`, closes the connection and waits for the thread's end.
    func close(within limit: Duration) async {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            let isOver = life.withLock { life in
                if life.closeBy == nil { life.closeBy = monotonicSeconds() + limit.seconds }
                let isOver = life.hasEnded || !life.isStarted
                life.isStarted = true
                if !isOver { life.waiters.append(waiter) }
                return isOver
            }
            wakeup.signal()
            if isOver {
                setState(.closed)
                waiter.resume()
            }
        }
    }

    private var closeBy: Double? { life.withLock { $0.closeBy } }

    private func run(_ role: any ConnectionRole) {
        var failures = 0
        let addresses = endpoint.addresses
        // Not all begin at the first node of a cluster; whose node is lost goes to the next one.
        var node = Int.random(in: 0..<addresses.count)
        while closeBy == nil {
            let began = monotonicSeconds()
            guard let failure = serve(role, at: addresses[node]) else { break }
            node = (node + 1) % addresses.count
            note(failure)
            role.disconnected(failure.description)
            if monotonicSeconds() - began > Self.steadySeconds { failures = 0 }
            failures += 1
            // Longer pauses come after all nodes have failed.
            pause(options.backoff.delay(after: (failures - 1) / addresses.count + 1), role)
        }
        setState(.closed)
        role.disconnected("closed")
        role.turnOffline()
        let waiters = life.withLock { life in
            life.hasEnded = true
            defer { life.waiters = [] }
            return life.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func note(_ failure: AMQPError) {
        setState(failure.kind == .misconfigured ? .misconfigured(failure.words) : .connecting(failure.description))
        guard closeBy == nil else { return }
        reconnects.increment()
        log.warning("broker connection failed", ["connection": name, "reason": failure.description])
    }

    /// One connection from its beginning to its end; returns why it ended, `nil` if it was closed as asked.
    private func serve(_ role: any ConnectionRole, at address: AMQPEndpoint.Address) -> AMQPError? {
        do {
            let connection = try Connection(endpoint, at: address, name: name, options: options)
            if let notAfter = connection.certificateNotAfter { certificateNotAfter.set(Int(notAfter)) }
            try connection.verify(requires)
            try role.opened(connection)
            setState(.ready)
            log.info("broker connected", ["connection": name, "broker": "\(address)"])
            try work(connection, role)
            connection.closePolitely()
            return nil
        } catch {
            return error
        }
    }

    /// Listens and works in turns until the connection is to be closed.
    private func work(_ connection: Connection, _ role: any ConnectionRole) throws(AMQPError) {
        // The library sends heartbeats, and notices missing ones, only while it is listening.
        let pulse = max(options.heartbeat.seconds / 4, 0.1)
        while true {
            var heard = 0
            while heard < Self.eventsPerTurn, let event = try connection.nextEvent() {
                try role.handle(event, connection)
                heard += 1
            }
            let now = monotonicSeconds()
            // Read before the turn: what was handed over before closing is taken in it.
            let closeBy = closeBy
            let next = try role.turn(connection, now)
            if let closeBy, role.isIdle || now >= closeBy { return }
            if heard < Self.eventsPerTurn, !connection.hasInput {
                let wait = min(pulse, max(0, min(next ?? .infinity, closeBy ?? .infinity) - now))
                Self.poll([connection.fileDescriptor, wakeup.fileDescriptor], seconds: wait)
                wakeup.drain()
            }
        }
    }

    /// Waits before the next try to connect, serving what can be served without a connection.
    private func pause(_ duration: Duration, _ role: any ConnectionRole) {
        let end = monotonicSeconds() + duration.seconds
        while closeBy == nil {
            role.turnOffline()
            let left = end - monotonicSeconds()
            guard left > 0 else { return }
            Self.poll([wakeup.fileDescriptor], seconds: left)
            wakeup.drain()
        }
    }

    private static func poll(_ descriptors: [Int32], seconds: Double) {
        var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Interrupted or not: the caller looks at everything again.
        _ = unsafe Glibc.poll(&waiting, nfds_t(waiting.count), Int32((seconds * 1000).rounded(.up)))
    }
}
