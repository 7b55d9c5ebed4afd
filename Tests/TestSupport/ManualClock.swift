package import Foundation
package import Runtime

/// A time of day that stands still until a test moves it.
package final class ManualClock: Sendable {
    private let time: Locked<Date>

    package init(_ start: Date = Date(timeIntervalSince1970: 1_750_000_000)) { time = Locked(start) }

    package var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    package func advance(by duration: Duration) {
        time.withLock { $0 = $0.addingTimeInterval(duration.seconds) }
    }

    /// What the code under test is given.
    package var wallClock: WallClock { WallClock { self.now } }
}
