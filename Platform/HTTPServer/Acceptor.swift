@unsafe @preconcurrency import Dispatch
import Foundation
import Glibc
import Runtime

/// A thread that accepts connections and hands them to the library's threads.
///
/// The library can do that itself, but cannot stop it safely: its threads and the caller of `MHD_quiesce_daemon` both
/// take the listening socket from the same epoll set, and whoever comes second ends the process (0.9.75).
final class Acceptor: Sendable {
    /// After an error that trying again at once does not help against, in milliseconds.
    private static let pause: Int32 = 100
    /// Connections that are accepted between two looks at everything else.
    private static let batch = 64

    private let listener: Int32
    private let core: ServerCore
    private let isStopped = Locked(false)
    private let end = DispatchGroup()

    /// Takes over the listening socket.
    init(_ socket: ListeningSocket, _ core: ServerCore, _ daemons: [Daemon]) {
        listener = socket.fileDescriptor
        self.core = core
        end.enter()
        let thread = Thread { [self] in
            run(daemons)
            // Closing alone would not end it while a child process that has not come to its exec yet holds a copy.
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            end.leave()
        }
        thread.name = "http accept"
        thread.start()
    }

    /// Waits until the listening socket is closed and every accepted connection is handed over.
    ///
    /// Callable from any thread, any number of times.
    func stop() {
        isStopped.withLock { $0 = true }
        core.places.wakeup.signal()
        end.wait()
    }

    private func run(_ daemons: [Daemon]) {
        var isPausing = false
        while !isStopped.withLock({ $0 }) {
            // At the limit, new connections wait in the kernel's queue.
            let isAccepting = !isPausing && !core.places.isFull
            var polled = [
                pollfd(fd: core.places.wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
                // A negative number is passed over.
                pollfd(fd: isAccepting ? listener : -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&polled, nfds_t(polled.count), isPausing ? Self.pause : -1)
            if polled[0].revents != 0 { core.places.wakeup.drain() }
            isPausing = polled[1].revents != 0 && !accept(daemons)
        }
    }

    /// Accepts what is there; false if something is amiss that only time can change.
    private func accept(_ daemons: [Daemon]) -> Bool {
        for _ in 0..<Self.batch where !core.places.isFull {
            switch AcceptedClient.accept(from: listener) {
            case .success(let client): handOver(client, daemons)
            case .failure(let error):
                switch error.code {
                case EAGAIN: return true
                case EINTR, ECONNABORTED: continue
                default:
                    core.log.warning(
                        "connections cannot be accepted", ["server": core.name, "reason": error.description])
                    return false
                }
            }
        }
        return true
    }

    private func handOver(_ client: AcceptedClient, _ daemons: [Daemon]) {
        let descriptor = client.fileDescriptor
        guard let thread = core.places.take(descriptor, address: client.addressText) else {
            close(descriptor)
            return
        }
        if !daemons[thread].add(client) { core.places.leave(descriptor) }
    }
}
