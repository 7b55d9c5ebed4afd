@unsafe @preconcurrency import Dispatch
import Glibc

/// SIGTERM and SIGINT as values.
///
/// The second signal ends the process at once.
package final class TerminationSignals: Sendable {
    private let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    /// Call this first in `main`: a signal that comes before it kills the process, one that comes after is answered.
    package init() {
        signal(SIGPIPE, SIG_IGN)  // A library that writes to a closed socket gets an error, the process lives on.
        let (stream, feed) = AsyncStream<Int32>.makeStream()
        self.stream = stream
        let queue = DispatchQueue(label: "signals")
        let received = Locked(0)
        sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let count = received.withLock { count in
                    count += 1
                    return count
                }
                if count > 1 { _exit(EXIT_FAILURE) }
                feed.yield(number)
            }
            source.resume()
            return source
        }
    }

    /// Waits for the first signal.
    ///
    /// Returns at once when the task is cancelled.
    package func next() async {
        for await _ in stream { return }
    }
}
