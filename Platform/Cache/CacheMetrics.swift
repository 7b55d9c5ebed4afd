import Crypto
import Runtime

/// What is counted of the commands.
///
/// The time is from the call to the answer.
struct CacheMetrics: Sendable {
    private let answered: Counter
    private let refused: Counter
    private let timedOut: Counter
    private let notConnected: Counter
    private let failed: Counter
    private let seconds: Histogram
    let connected: Gauge
    let certificateNotAfter: Gauge

    init(_ metrics: Metrics) {
        let outcome = { (outcome: String) in
            metrics.counter(
                "isthmus_cache_commands_total", "Commands to Redis by how they ended.", ["outcome": outcome])
        }
        answered = outcome("answered")
        refused = outcome("refused")
        timedOut = outcome("timed_out")
        notConnected = outcome("not_connected")
        failed = outcome("failed")
        seconds = metrics.histogram("isthmus_cache_seconds", "Time until Redis' answer.")
        connected = metrics.gauge("isthmus_cache_connected", "Whether there is a connection to Redis.")
        certificateNotAfter = metrics.certificateNotAfter(client: "redis")
    }

    func observe(_ answer: RedisAnswer, since start: Double) {
        switch answer {
        case .success:
            answered.increment()
            seconds.observe(monotonicSeconds() - start)
        case .failure(let error):
            switch error.kind {
            case .refused: refused.increment()
            case .timedOut: timedOut.increment()
            case .notConnected: notConnected.increment()
            case .protocolError, .tooMuch, .settings: failed.increment()
            }
        }
    }
}
