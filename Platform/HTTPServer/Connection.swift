import Glibc
import Runtime

/// An open connection as the watch sees it: what it is doing, and until when it may.
final class Connection: Sendable {
    enum Phase { case idle, headers, body, handling, sending, streaming }

    /// What the watch has to do about a connection.
    enum Verdict {
        case fine
        /// The client was too slow; the socket is shut down already.
        case cut(Phase)
        case handlerTooSlow(Exchange)
        case clientLeft(Exchange)
    }

    private struct State {
        var phase = Phase.headers
        var deadline: Double
        var exchange: Exchange?
        var isOpen = true
    }

    let fileDescriptor: Int32
    let remoteAddress: String
    private let state: Locked<State>

    init(fileDescriptor: Int32, remoteAddress: String, deadline: Double) {
        self.fileDescriptor = fileDescriptor
        self.remoteAddress = remoteAddress
        state = Locked(State(deadline: deadline))
    }

    func enter(_ phase: Phase, until deadline: Double, _ exchange: Exchange? = nil) {
        state.withLock { state in
            state.phase = phase
            state.deadline = deadline
            state.exchange = exchange
        }
    }

    var exchange: Exchange? { state.withLock { $0.exchange } }

    /// Makes the library notice the end of this connection.
    func shutDown() {
        state.withLock { state in
            if state.isOpen { _ = shutdown(fileDescriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Called before the socket is closed: from here on its number may be somebody else's.
    func markClosed() {
        state.withLock { state in
            state.isOpen = false
            state.exchange = nil
        }
    }

    func judge(at now: Double) -> Verdict {
        state.withLock { state in
            guard state.isOpen else { return .fine }
            if state.phase == .streaming {
                guard let exchange = state.exchange, hasClientLeft else { return .fine }
                return .clientLeft(exchange)
            }
            guard now > state.deadline else { return .fine }
            state.deadline = .infinity
            if state.phase == .handling, let exchange = state.exchange { return .handlerTooSlow(exchange) }
            _ = shutdown(fileDescriptor, Int32(SHUT_RDWR))
            return .cut(state.phase)
        }
    }

    /// A suspended connection is out of the library's sight, so the end of a stream's client has to be looked for.
    private var hasClientLeft: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(fileDescriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }
}
