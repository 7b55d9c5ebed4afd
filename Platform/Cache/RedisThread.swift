import Crypto
import Glibc
import Runtime

/// How to get a connection that is logged in.
struct RedisConnector: Sendable {
    let url: RedisURL
    let context: TLSContext?
    let timeout: Duration

    func connect() throws(CacheError) -> RedisConnection {
        let deadline = monotonicSeconds() + timeout.seconds
        let connection = RedisConnection(try RedisSocket(url, context, until: deadline))
        for arguments in url.greeting {
            let command = try RedisCommand(unchecked: arguments.map { Array($0.utf8) })
            if case .error(let words) = try connection.exchange(command, until: deadline) {
                throw CacheError.refused("\(arguments[0]): \(words)")
            }
        }
        return connection
    }
}

/// The one thread that touches the connection: connects, serves until it breaks, connects again.
final class RedisThread {
    /// So many failures without an answer in between, and the next attempt is put off.
    private static let failureLimit = 3
    private static let pause = 1.0

    private let connector: RedisConnector
    private let queue: CommandQueue
    private let metrics: CacheMetrics
    private let log: Log
    private var failures = 0
    private var lastWords = ""

    init(_ connector: RedisConnector, _ queue: CommandQueue, _ metrics: CacheMetrics, _ log: Log) {
        self.connector = connector
        self.queue = queue
        self.metrics = metrics
        self.log = log
    }

    func run() {
        blockSIGPIPE()
        while !queue.isClosing {
            do throws(CacheError) {
                let connection = try connector.connect()
                lastWords = ""
                log.info("cache connected")
                metrics.connected.set(1)
                if let notAfter = connection.certificateNotAfter { metrics.certificateNotAfter.set(Int(notAfter)) }
                queue.connected()
                try serve(connection)
            } catch {
                failed(error)
            }
        }
        for command in queue.disconnected(CacheError.closed) { command.answer(.failure(CacheError.closed)) }
        metrics.connected.set(0)
        queue.ended()
    }

    /// Returns when the client is closed and every answer has come; throws when the connection is of no more use.
    private func serve(_ connection: RedisConnection) throws(CacheError) {
        defer { connection.failRest() }
        while true {
            let isClosing = queue.isClosing
            connection.add(queue.take())
            try connection.write()
            if isClosing, connection.isIdle { return }
            let isReadable = try connection.wait(wakeup: queue.wakeup)
            if isReadable { try connection.read() }
            let (count, bytes) = connection.takeAnswered()
            if count > 0 {
                queue.answered(count, bytes: bytes)
                failures = 0
            }
            try connection.checkDeadlines()
        }
    }

    private func failed(_ error: CacheError) {
        metrics.connected.set(0)
        for command in queue.disconnected(error) { command.answer(.failure(CacheError(.notConnected, error.words))) }
        // One line for each reason, not for each attempt.
        if lastWords != error.words { log.warning("cache not connected", ["error": error.words]) }
        lastWords = error.words
        failures += 1
        guard failures >= Self.failureLimit else { return }
        let end = monotonicSeconds() + Self.pause
        while !queue.isClosing, monotonicSeconds() < end {
            queue.wakeup.drain()
            var entry = pollfd(fd: queue.wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, pollTimeout(until: end))
        }
    }

    /// OpenSSL writes without `MSG_NOSIGNAL`; on this thread a closed socket is to be an error and no signal.
    private func blockSIGPIPE() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
