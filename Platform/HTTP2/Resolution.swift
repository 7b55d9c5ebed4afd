import Foundation
import Runtime

/// One question to the resolver, asked on a thread of its own because the answer can take longer than anybody waits.
final class Resolution: Sendable {
    private let result = Locked<Result<[SocketAddress], ConnectionEnd>?>(nil)

    /// - Parameter wakeup: Signalled when the answer is there.
    init(host: String, port: UInt16, wakeup: Wakeup) {
        let thread = Thread { [self] in
            let answer = SocketAddress.resolve(host, port: port)
            result.withLock { $0 = answer }
            wakeup.signal()
        }
        thread.name = "resolve"
        thread.start()
    }

    /// `nil` while nothing is known.
    var answer: Result<[SocketAddress], ConnectionEnd>? { result.withLock { $0 } }
}
