import CLinux
package import Foundation

/// Where a service takes the time of day from, so that a test can move it.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    package init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The machine's clock, moved by `CLOCK_FILE` where a test or a demonstration has set that.
    package static let system =
        ClockFile.ofProcess.map { file in WallClock { Date() + file.secondsAhead } }
        ?? WallClock { Date() }

    package var now: Date { read() }

    /// Whole seconds since 1970.
    package var seconds: Int64 { Int64(read().timeIntervalSince1970.rounded(.down)) }
}

/// Seconds of a clock that never jumps, for deadlines and ages within a process.
package func monotonicSeconds() -> Double { isthmus_monotonic_seconds() }

/// Nanoseconds since 1970.
func wallNanoseconds() -> Int64 { isthmus_wall_nanoseconds() }

extension Duration {
    /// The same length in seconds.
    package var seconds: Double {
        let parts = components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }

    /// The same length in whole milliseconds, rounded up.
    package var milliseconds: Int64 { Int64((seconds * 1000).rounded(.up)) }
}
