import Crypto
import Glibc
import Runtime

/// The thread of a server: accepts connections, and serves all of them.
final class ServerLoop {
    /// After running out of descriptors, in seconds.
    private static let acceptPause = 0.1

    private let listener: Int32
    private let inbox: ServerInbox
    private let tls: TLSContext
    private let settings: HTTP2ServerSettings
    private let log: Log
    private let handler: ServerConnection.Handler
    private var connections: [Int: ServerConnection] = [:]
    private var lastID = 0
    private var maxConcurrentStreams: UInt32
    private var acceptAgainAt = 0.0
    private var isClosing = false

    /// Takes over the listening descriptor.
    init(
        listener: Int32, inbox: ServerInbox, tls: TLSContext, settings: HTTP2ServerSettings, log: Log,
        handler: @escaping ServerConnection.Handler
    ) {
        self.listener = listener
        self.inbox = inbox
        self.tls = tls
        self.settings = settings
        self.log = log
        self.handler = handler
        maxConcurrentStreams = settings.maxConcurrentStreams
    }

    /// Runs until the server is closed.
    func run() {
        blockBrokenPipeSignal()
        while !isClosing {
            for command in inbox.take() { perform(command) }
            for connection in connections.values { connection.flush() }
            removeEnded()
            if !isClosing { wait() }
        }
        close(listener)
        inbox.markEnded()
    }

    private func perform(_ command: ServerCommand) {
        switch command {
        case .stream(let connection, let stream, let action): connections[connection]?.perform(action, on: stream)
        case .goAway(let reason, let last):
            for connection in connections.values { connection.goAway(reason: reason, lastStreamID: last) }
        case .setMaxConcurrentStreams(let count):
            maxConcurrentStreams = count
            for connection in connections.values { connection.setMaxConcurrentStreams(count) }
        case .dropConnections: connections = [:]
        case .close:
            for connection in connections.values {
                connection.goAway(reason: [], lastStreamID: nil)
                connection.flush()
                connection.close()
            }
            isClosing = true
        }
    }

    private func wait() {
        let served = Array(connections.values)
        var polled = [
            pollfd(fd: inbox.wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
            // At the limit, new connections wait in the kernel's queue.
            pollfd(fd: listener, events: acceptsMore ? Int16(POLLIN) : 0, revents: 0),
        ]
        for connection in served {
            polled.append(pollfd(fd: connection.fileDescriptor, events: connection.pollEvents, revents: 0))
        }
        let now = monotonicSeconds()
        let acceptWait = acceptAgainAt > now ? acceptAgainAt - now : 3600
        var seconds = max(0, served.reduce(acceptWait) { min($0, $1.deadline - now) })
        if served.contains(where: \.hasMoreInput) || !inbox.fallAsleep() { seconds = 0 }
        _ = unsafe poll(&polled, nfds_t(polled.count), Int32((seconds * 1000).rounded(.up)))
        if polled[0].revents != 0 { inbox.wakeup.drain() }
        for (connection, entry) in zip(served, polled.dropFirst(2)) {
            if entry.revents != 0 || connection.hasMoreInput {
                connection.advance(maxConcurrentStreams: maxConcurrentStreams)
            }
            // Also of those that send all the time.
            if connection.deadline <= monotonicSeconds() { connection.deadlinePassed() }
        }
        if polled[1].revents != 0 { accept() }
    }

    private var acceptsMore: Bool {
        connections.count < settings.maxConnections && monotonicSeconds() >= acceptAgainAt
    }

    private func accept() {
        while acceptsMore {
            guard let descriptor = Socket.accept(listener) else {
                // Without a free descriptor the listener stays readable: do not ask it again and again.
                if errno == EMFILE || errno == ENFILE { acceptAgainAt = monotonicSeconds() + Self.acceptPause }
                return
            }
            lastID += 1
            do {
                connections[lastID] = try ServerConnection(
                    id: lastID, fileDescriptor: descriptor, tls: tls, settings: settings,
                    post: { [inbox] in inbox.post($0) }, handler: handler)
            } catch { log.warning("HTTP/2 connection not accepted", ["reason": error.reason]) }
        }
    }

    private func removeEnded() {
        for (id, connection) in connections {
            guard let reason = connection.endReason else { continue }
            log.debug("HTTP/2 client gone", ["connection": "\(id)", "reason": reason])
            connections[id] = nil
        }
    }
}
