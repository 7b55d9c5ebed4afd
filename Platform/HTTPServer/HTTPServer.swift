@unsafe @preconcurrency import Dispatch
import Foundation
import Glibc
package import Runtime

/// An HTTP/1.1 server over libmicrohttpd.
///
/// A request whose handler has not answered yet costs no thread: its connection is suspended until it has.
package final class HTTPServer: Sendable {
    /// The port that it listens on.
    package let port: UInt16
    private let core: ServerCore
    private let acceptor: Acceptor
    private let watch: Watch
    private let daemons: Locked<[Daemon]?>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - threads: At least so many; there are more if `limits.maxConnections` asks for it.
    ///   - name: The `server` label of its metrics.
    ///   - handler: Runs on one of the server's threads and must not wait. It answers at once or keeps the responder.
    package init(
        listen: ListenAddress, threads: Int = 2, limits: HTTPServerLimits = HTTPServerLimits(), name: String,
        log: Log, metrics: Metrics, handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void
    ) throws(HTTPServerError) {
        let socket = try ListeningSocket(listen)
        let core = ServerCore(
            name: name, threads: threads, limits: limits, log: log, metrics: metrics, handler: handler)
        let daemons: [Daemon]
        do { daemons = try Daemon.start(core.places.threads, core: core) } catch {
            Glibc.close(socket.fileDescriptor)
            throw error
        }
        self.daemons = Locked(daemons)
        self.core = core
        port = socket.port
        acceptor = Acceptor(socket, core, daemons)
        watch = Watch(core)
    }

    /// Starts a server whose handler is an async function; each request runs in a task of its own.
    ///
    /// Nobody waits for those tasks but the server: `drain(within:)` does, since each holds its request open.
    package convenience init(
        listen: ListenAddress, threads: Int = 2, limits: HTTPServerLimits = HTTPServerLimits(), name: String,
        log: Log, metrics: Metrics, asyncHandler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(HTTPServerError) {
        try self.init(listen: listen, threads: threads, limits: limits, name: name, log: log, metrics: metrics) {
            request, responder in
            Task { responder.respond(await asyncHandler(request)) }
        }
    }

    deinit { close() }

    /// Closes the listening socket, and returns when it is closed.
    ///
    /// Open connections are served on, and closed after their next answer.
    package func stopAccepting() {
        core.startDraining()
        acceptor.stop()
    }

    /// Waits until no request is open, or the time is up.
    package func drain(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while core.inFlight > 0, ContinuousClock.now < end {
            // Cancelled: the caller does not want to wait any longer.
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return }
        }
    }

    /// Requests that are being read or answered now.
    package var inFlight: Int { core.inFlight }

    /// Ends everything at once; open requests get no answer.
    ///
    /// Not to be called from a handler. Later calls do nothing.
    package func close() {
        guard daemons.withLock({ $0 != nil }) else { return }
        stopAccepting()
        watch.stop()
        core.startClosing()
        core.endConnections()
        guard let last = daemons.withLock({ $0.take() }) else { return }
        for daemon in last { daemon.stop() }
    }
}

/// A thread that looks after slow clients.
final class Watch: Sendable {
    private static let interval: Int32 = 100  // milliseconds

    private let wakeup = Wakeup()
    private let ended = DispatchSemaphore(value: 0)
    private let isStopped = Locked(false)

    init(_ core: ServerCore) {
        let thread = Thread { [wakeup, ended, isStopped] in
            while !isStopped.withLock({ $0 }) {
                var entry = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&entry, 1, Watch.interval)
                core.watch()
            }
            ended.signal()
        }
        thread.name = "http watch"
        thread.start()
    }

    /// Waits for the thread's end.
    func stop() {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        wakeup.signal()
        ended.wait()
    }
}
