package import Crypto
import Foundation
package import Runtime
import Synchronization

/// Sends requests to one host over HTTP/2 and TLS, many at once over few connections.
///
/// It connects when there is something to send (or at `connect()`), and again when a connection ends. Each new connection
/// looks the host up afresh.
package final class HTTP2Client: Sendable {
    package typealias Options = HTTP2ClientOptions

    private let connections: [ClientConnection]
    private let turn = Atomic(0)
    private let notProcessed: Counter
    private let unknown: Counter
    private let answered: Counter

    /// - Parameters:
    ///   - host: A DNS name or an IP address. The server's certificate must be made out to it.
    ///   - caFile: Certificates to trust, in PEM, instead of the machine's list.
    ///   - name: Names this client in metrics.
    package init(
        host: String, port: UInt16, caFile: String? = nil, options: Options = Options(), name: String, log: Log,
        metrics: Metrics
    ) throws(TLSError) {
        let labels = ["client": name]
        func requests(_ outcome: String) -> Counter {
            metrics.counter(
                "isthmus_http2_requests_total", "Requests by how they ended.", ["client": name, "outcome": outcome])
        }
        answered = requests("answered")
        notProcessed = requests("not_processed")
        unknown = requests("unknown")
        let target = ClientLoop.Target(
            host: host, port: port, tls: try TLSContext.client(caFile: caFile, alpn: ["h2"]), options: options,
            log: log,
            opened: metrics.counter("isthmus_http2_connected_total", "Connections that were set up.", labels),
            certificateNotAfter: metrics.certificateNotAfter(client: name),
            failed: metrics.counter("isthmus_http2_connect_failures_total", "Attempts to connect that failed.", labels))
        let connections = (0..<max(1, options.connections)).map { _ in
            ClientConnection(maxQueued: options.maxQueued)
        }
        self.connections = connections
        metrics.gauge("isthmus_http2_connections", "Connections that are ready.", labels) {
            Double(connections.count { $0.isConnected.load(ordering: .relaxed) })
        }
        metrics.gauge("isthmus_http2_in_flight", "Requests that are not answered.", labels) {
            Double(connections.reduce(0) { $0 + $1.load.load(ordering: .relaxed) })
        }
        for connection in connections {
            Self.startThread(connection, target, siblings: connections.filter { $0 !== connection })
        }
    }

    deinit {
        for connection in connections { connection.beginClosing(.atOnce) }
    }

    private static func startThread(
        _ connection: ClientConnection, _ target: ClientLoop.Target, siblings: [ClientConnection]
    ) {
        let thread = Thread {
            // The loop is made on its thread and never leaves it.
            let loop = ClientLoop(connection, target: target) { request in
                guard let other = siblings.first(where: { $0.isConnected.load(ordering: .relaxed) }) else {
                    return false
                }
                return other.submit(request) == nil
            }
            loop.run()
        }
        thread.name = "http2"
        thread.start()
    }

    /// Whether at least one connection is ready.
    package var isConnected: Bool { connections.contains { $0.isConnected.load(ordering: .relaxed) } }

    /// Connects without waiting for a request, and stays connected.
    package func connect() {
        for connection in connections { connection.connect() }
    }

    /// Sends a request and calls `completion` exactly once, at the latest when the time is over.
    ///
    /// - Parameter completion: Called on a thread of the client (or, if the request is not taken, on this one). It must not
    ///   wait; it may send.
    package func send(
        _ request: HTTP2Request, within limit: Duration,
        completion: @escaping @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void
    ) {
        let connection = choose()
        let pending = PendingRequest(
            request: request, deadline: monotonicSeconds() + limit.seconds
        ) { [answered, notProcessed, unknown] result in
            connection.load.wrappingSubtract(1, ordering: .relaxed)
            switch result {
            case .success: answered.increment()
            case .failure(let error): (error.outcome == .unknown ? unknown : notProcessed).increment()
            }
            completion(result)
        }
        connection.load.wrappingAdd(1, ordering: .relaxed)
        let refusal = request.malformedPart.map { "\($0) cannot be sent" } ?? connection.submit(pending)
        if let refusal { pending.fail(.notProcessed, refusal) }
    }

    /// Sends a request.
    ///
    /// Cancelling the task changes nothing: the wait ends with the answer or with the time.
    package func send(_ request: HTTP2Request, within limit: Duration) async throws(HTTP2Error) -> HTTP2Response {
        let result: Result<HTTP2Response, HTTP2Error> = await withCheckedContinuation { continuation in
            send(request, within: limit) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The least busy connection of those that are ready; of all, if none is.
    private func choose() -> ClientConnection {
        guard connections.count > 1 else { return connections[0] }
        let start = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        var best = connections[start % connections.count]
        for offset in 1..<connections.count {
            let other = connections[(start &+ offset) % connections.count]
            let ready = (best.isConnected.load(ordering: .relaxed), other.isConnected.load(ordering: .relaxed))
            let isLess = other.load.load(ordering: .relaxed) < best.load.load(ordering: .relaxed)
            if ready.0 == ready.1 ? isLess : ready.1 { best = other }
        }
        return best
    }

    /// Takes no more requests, waits for the answers to those that were sent, and says goodbye to the server.
    ///
    /// What was not sent yet fails as `.notProcessed`. The deadlines of the requests bound the wait.
    package func close() async {
        for connection in connections { connection.beginClosing(.whenIdle) }
        for connection in connections { await connection.waitForEnd() }
    }
}
