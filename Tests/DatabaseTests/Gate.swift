import Dispatch

/// Holds a connection's thread, which may wait, until the test lets it go; for ten seconds at the most.
struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { _ = semaphore.wait(timeout: .now() + 10) }

    func open() { semaphore.signal() }
}
