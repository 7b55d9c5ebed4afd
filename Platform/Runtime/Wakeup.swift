import CLinux
import Glibc

/// A descriptor that turns readable when another thread calls `signal()`: what ends a thread's wait in `poll`.
package final class Wakeup: Sendable {
    /// To be polled for `POLLIN` by the one thread that calls `drain()`.
    package let fileDescriptor: Int32

    package init() {
        fileDescriptor = isthmus_eventfd()
        precondition(fileDescriptor >= 0, "eventfd: out of file descriptors")
    }

    deinit { close(fileDescriptor) }

    /// Makes the descriptor readable.
    ///
    /// Callable from any thread; several signals before a drain count as one.
    package func signal() { _ = isthmus_eventfd_signal(fileDescriptor) }

    /// Makes the descriptor unreadable until the next signal.
    package func drain() { _ = isthmus_eventfd_drain(fileDescriptor) }
}
