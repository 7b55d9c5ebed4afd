import Foundation
import Runtime

/// Compares this machine's clock with the `Date` of APNs' answers: a JWT from a wrong clock is refused.
final class ClockSkew: Sendable {
    /// Seconds that are no reason to worry: the header has whole seconds, and answers take their time.
    static let tolerance = 30.0
    /// Seconds between two warnings.
    private static let pause = 600.0

    private struct State {
        /// The last header that was read: many answers come in one second, and reading a date costs more than a push.
        var header: String?
        var lastWarning: Double?
    }

    private let state = Locked(State())
    private let clock: WallClock
    private let log: Log
    private let gauge: Gauge

    init(clock: WallClock, log: Log, metrics: Metrics) {
        self.clock = clock
        self.log = log
        gauge = metrics.gauge(
            "isthmus_apns_clock_skew_seconds", "How far this machine's clock is ahead of APNs', by its last answer.")
    }

    /// Notes the `Date` header of an answer; without one, or with one that is no date, nothing is learned.
    func note(_ header: String?) {
        guard let header, isNews(header), let theirs = Self.seconds(header) else { return }
        let skew = clock.now.timeIntervalSince1970 - theirs
        gauge.set(Int(skew.rounded()))
        let now = monotonicSeconds()
        let isDue = state.withLock { state in
            guard abs(skew) > Self.tolerance, state.lastWarning.map({ now - $0 >= Self.pause }) ?? true else {
                return false
            }
            state.lastWarning = now
            return true
        }
        if isDue { log.warning("this machine's clock differs from APNs'", ["seconds": "\(Int(skew.rounded()))"]) }
    }

    private func isNews(_ header: String) -> Bool {
        state.withLock { state in
            defer { state.header = header }
            return state.header != header
        }
    }

    /// Seconds since 1970 of an HTTP date as servers send it (RFC 9110, 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
    static func seconds(_ header: String) -> Double? {
        let format = Date.ParseStrategy(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) GMT
                """,
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt)
        return (try? Date(header, strategy: format))?.timeIntervalSince1970
    }
}
