import Runtime

/// What one server counts.
final class ServerFigures: Sendable {
    let connections: Gauge
    private let seconds: Histogram
    private let byStatus = Locked<[Int: Counter]>([:])
    private let server: String
    private let metrics: Metrics

    init(server: String, _ metrics: Metrics) {
        self.server = server
        self.metrics = metrics
        connections = metrics.gauge("isthmus_http_connections", "Open HTTP connections.", ["server": server])
        seconds = metrics.histogram(
            "isthmus_http_request_seconds", "From a request's headers to its answer.", ["server": server])
    }

    func countAnswer(_ status: Int, after duration: Double) {
        let counter = byStatus.withLock { counters in
            if let counter = counters[status] { return counter }
            let counter = metrics.counter(
                "isthmus_http_requests_total", "HTTP requests by the status of their answer.",
                ["server": server, "status": "\(status)"])
            counters[status] = counter
            return counter
        }
        counter.increment()
        seconds.observe(duration)
    }

    func countCut(_ phase: Connection.Phase) {
        guard phase != .idle else { return }
        metrics.counter(
            "isthmus_http_cut_connections_total", "Connections closed because the client was too slow.",
            ["server": server, "while": "\(phase)"]
        ).increment()
    }
}
