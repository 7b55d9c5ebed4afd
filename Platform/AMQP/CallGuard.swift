import Foundation
import Glibc
import Runtime

/// Ends a call into librabbitmq that is stuck on its socket: a write to a broker that reads nothing waits for ever.
///
/// Shutting the socket down is the one thing that another thread may do to a connection; the stuck call then returns an
/// error. The descriptor is forgotten here before it is closed, so no other file can be hit.
final class CallGuard: Sendable {
    private struct Watch {
        var descriptor: Int32?
        var deadline: Double?
    }

    private let limit: Double
    private let watch = Locked(Watch())

    init(limit: Duration) {
        self.limit = limit.seconds
        Watchdog.shared.add(self)
    }

    /// Names the socket to watch, or none any more.
    func watch(_ descriptor: Int32?) { watch.withLock { $0.descriptor = descriptor } }

    /// Runs a call that must return within the limit.
    func call<Result>(_ body: () -> Result) -> Result {
        let deadline = monotonicSeconds() + limit
        watch.withLock { $0.deadline = deadline }
        defer { watch.withLock { $0.deadline = nil } }
        return body()
    }

    fileprivate func check(_ now: Double) {
        watch.withLock { watch in
            guard let descriptor = watch.descriptor, let deadline = watch.deadline, now > deadline else { return }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }
}

/// The thread that looks at every guard, twice a second.
private final class Watchdog: Sendable {
    static let shared = Watchdog()

    private struct Entry { weak var watched: CallGuard? }

    private let entries = Locked<[Entry]>([])

    private init() {
        let thread = Thread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 0.5)
                check()
            }
        }
        thread.name = "amqp-watchdog"
        thread.start()
    }

    func add(_ watched: CallGuard) { entries.withLock { $0.append(Entry(watched: watched)) } }

    private func check() {
        let watched = entries.withLock { entries in
            entries.removeAll { $0.watched == nil }
            return entries.compactMap(\.watched)
        }
        let now = monotonicSeconds()
        for one in watched { one.check(now) }
    }
}
