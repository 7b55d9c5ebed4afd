import Glibc
import Runtime
import Synchronization

/// What the library's callbacks, the responders and the watch of one server share.
final class ServerCore: Sendable {
    typealias Handler = @Sendable (HTTPRequest, HTTPResponder) -> Void

    let name: String
    let limits: HTTPServerLimits
    let log: Log
    let handler: Handler
    let figures: ServerFigures
    let places: Places
    private let connections = Locked<[Int32: Connection]>([:])
    private let inFlightCount = Atomic<Int>(0)
    private let draining = Atomic<Bool>(false)
    private let closing = Atomic<Bool>(false)

    init(
        name: String, threads: Int, limits: HTTPServerLimits, log: Log, metrics: Metrics, handler: @escaping Handler
    ) {
        self.name = name
        self.limits = limits
        self.log = log
        self.handler = handler
        figures = ServerFigures(server: name, metrics)
        places = Places(limits, threads: threads)
    }

    /// Whether answers say `Connection: close`.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Whether the daemons are about to stop.
    ///
    /// Set before the open exchanges are looked through, and looked at under an
    /// exchange's lock before it suspends: so none is left suspended, which the library would abort the process for.
    var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }

    var inFlight: Int { inFlightCount.load(ordering: .relaxed) }

    func startDraining() { draining.store(true, ordering: .relaxed) }

    func startClosing() {
        closing.store(true, ordering: .sequentiallyConsistent)
        for connection in openConnections { connection.exchange?.abort() }
    }

    /// Ends all connections and waits until the library has let go of them, or for a second.
    ///
    /// A daemon that is stopped while it makes up an error answer of its own uses one that is not there: in 0.9.75
    /// `MHD_queue_response` says yes and takes nothing once the daemon's shutdown has begun.
    func endConnections() {
        let end = monotonicSeconds() + 1
        while places.taken > 0, monotonicSeconds() < end {
            for connection in openConnections { connection.shutDown() }
            usleep(500)
        }
    }

    var openConnections: [Connection] { connections.withLock { Array($0.values) } }

    func opened(_ connection: Connection) {
        connections.withLock { $0[connection.fileDescriptor] = connection }
        figures.connections.add(1)
    }

    func closed(_ connection: Connection) {
        connection.markClosed()
        connections.withLock { _ = $0.removeValue(forKey: connection.fileDescriptor) }
        places.leave(connection.fileDescriptor)
        figures.connections.add(-1)
    }

    /// Counts a request; false if there are too many.
    func admit(_ exchange: Exchange) -> Bool {
        let (_, count) = inFlightCount.wrappingAdd(1, ordering: .relaxed)
        guard count <= limits.maxInFlight else {
            inFlightCount.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        exchange.progress.isCounted = true
        return true
    }

    func finished(_ exchange: Exchange) {
        if exchange.progress.isCounted { inFlightCount.wrappingSubtract(1, ordering: .relaxed) }
        exchange.finish()
        exchange.connection.enter(.idle, until: monotonicSeconds() + limits.idleTimeout.seconds)
    }

    /// Cuts off who is too slow.
    func watch() {
        let now = monotonicSeconds()
        for connection in openConnections {
            switch connection.judge(at: now) {
            case .fine: break
            case .cut(let phase): figures.countCut(phase)
            case .clientLeft(let exchange): exchange.abort()
            case .handlerTooSlow(let exchange):
                var response = HTTPResponse.problem(503, title: "Service Unavailable")
                response.headers.append(("Retry-After", "\(limits.retryAfter.components.seconds)"))
                if exchange.answer(.response(response)) {
                    log.warning("a handler did not answer in time", ["server": name])
                }
            }
        }
    }
}
