import Crypto
import Foundation
package import Runtime

/// One connection to Redis, shared by any number of tasks, whose commands are sent together and answered in order.
///
/// It connects by itself, again and again. While there is no connection, commands fail at once; after an answer that
/// did not come in time the connection is dropped, so that a late answer is never taken for another command's.
package final class RedisClient: Sendable {
    private let queue = CommandQueue()
    private let metrics: CacheMetrics
    private let commandTimeout: Duration

    /// Begins to connect; see ``waitUntilConnected(within:)``.
    ///
    /// - Parameters:
    ///   - url: `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS with a verified certificate.
    ///   - caFile: Certificates to trust for `rediss://`, in PEM, instead of the machine's own list.
    ///   - connectTimeout: For the connection, TLS, the login and a first answer. No command waits for that.
    ///   - commandTimeout: How long Redis may be silent while a command waits. While it answers others, which come first,
    ///     a command waits for ten times as long at the most.
    package init(
        url: String, caFile: String? = nil, connectTimeout: Duration = .milliseconds(500),
        commandTimeout: Duration = .milliseconds(50), log: Log, metrics: Metrics
    ) throws(CacheError) {
        let url = try RedisURL(url)
        var context: TLSContext?
        if url.usesTLS {
            do { context = try TLSContext.client(caFile: caFile, alpn: []) } catch {
                throw CacheError(.settings, "\(error)")
            }
        }
        self.metrics = CacheMetrics(metrics)
        self.commandTimeout = commandTimeout
        let connector = RedisConnector(url: url, context: context, timeout: connectTimeout)
        let thread = Thread { [queue, metrics = self.metrics] in
            RedisThread(connector, queue, metrics, log).run()
        }
        thread.name = "redis"
        thread.start()
    }

    // The thread does not hold this object; it ends by itself.
    deinit { queue.close() }

    package var isConnected: Bool { queue.isConnected }

    /// Waits for the connection; throws what stands in its way when time is up.
    package func waitUntilConnected(within limit: Duration) async throws(CacheError) {
        let end = monotonicSeconds() + limit.seconds
        while !isConnected {
            guard monotonicSeconds() < end, !Task.isCancelled, !queue.isClosing else {
                throw queue.lastError ?? CacheError(.timedOut, "not connected within \(limit)")
            }
            // The one error is cancellation, which the loop looks at itself.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Sends one command and waits for its answer, as long as `commandTimeout` allows.
    ///
    /// Throws Redis' error as `.refused`. Commands that change the connection or have no answer of their own
    /// (`SUBSCRIBE`, `CLIENT`…) and those that block have no place here.
    package func command(_ arguments: [[UInt8]]) async throws(CacheError) -> RedisValue {
        let command = try RedisCommand(arguments)
        let start = monotonicSeconds()
        let answer: RedisAnswer = await withCheckedContinuation { waiter in
            let pending = PendingCommand(
                command: command, start: start, patience: commandTimeout.seconds,
                answer: { waiter.resume(returning: $0) })
            if let refusal = queue.add(pending) { waiter.resume(returning: .failure(refusal)) }
        }
        metrics.observe(answer, since: start)
        return try answer.get()
    }

    /// The same for arguments that are texts.
    package func command(_ arguments: String...) async throws(CacheError) -> RedisValue {
        try await command(arguments.map { Array($0.utf8) })
    }

    /// Refuses what comes, waits for the answers that are due, and closes the connection.
    package func close() async {
        queue.close()
        await queue.waitForEnd()
    }
}
