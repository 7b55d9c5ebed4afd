import CMicroHTTPD
import Runtime

/// The body of an answer while it is being written.
///
/// Callable from any thread. It ends by `close()`, when the client leaves, or when the client reads so slowly that too
/// much gathers.
package final class HTTPBodyStream: Sendable {
    @safe private struct State {
        var backlog: [UInt8] = []
        /// The connection, from the answer's first byte to its end.
        var handle: OpaquePointer?
        var isSuspended = false
        /// No more is written; what is there is still sent.
        var isEnded = false
        /// Nothing more is sent.
        var isBroken = false
        var isFinished = false
        /// Goes at the end: it holds the server, whose handler may hold this stream.
        var isServerClosing: (@Sendable () -> Bool)?
        var onClose: [@Sendable () -> Void] = []
    }

    private let connection: Connection
    private let limit: Int
    private let state: Locked<State>

    init(_ connection: Connection, limit: Int, isClosing: @escaping @Sendable () -> Bool) {
        self.connection = connection
        self.limit = limit
        state = unsafe Locked(State(isServerClosing: isClosing))
    }

    /// Sends bytes after those before; ignored once the stream is closed.
    package func write(_ bytes: [UInt8]) {
        let isTooMuch = state.withLock { state in
            guard !state.isEnded, !state.isBroken, !bytes.isEmpty else { return false }
            guard state.backlog.count + bytes.count <= limit else {
                state.isBroken = true
                state.backlog = []
                Self.resume(&state)
                return true
            }
            state.backlog += bytes
            Self.resume(&state)
            return false
        }
        if isTooMuch { connection.shutDown() }
    }

    /// Ends the body after what has been written.
    package func close() {
        state.withLock { state in
            state.isEnded = true
            Self.resume(&state)
        }
    }

    /// Whether writing is of no use any more.
    package var isClosed: Bool { state.withLock { $0.isEnded || $0.isBroken || $0.isFinished } }

    /// Has `action` run once when the client has everything or is gone; at once if it is so already.
    package func onClose(_ action: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.onClose.append(action) }
            return state.isFinished
        }
        if isFinished { action() }
    }

    /// The connection that the library will read this stream for.
    func attach(_ handle: OpaquePointer) {
        state.withLock { state in unsafe state.handle = handle }
    }

    /// Ends the connection without the rest.
    func abort() {
        state.withLock { state in
            state.isBroken = true
            state.backlog = []
            Self.resume(&state)
        }
    }

    /// The library is done with the answer.
    func finish() {
        let actions = state.withLock { state in
            state.isFinished = true
            state.isBroken = true
            state.isSuspended = false
            unsafe state.handle = nil
            state.backlog = []
            state.isServerClosing = nil
            defer { state.onClose = [] }
            return state.onClose
        }
        for action in actions { action() }
    }

    /// Fills the library's buffer; with nothing to fill it with, suspends the connection and gives 0.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        state.withLock { state in
            guard !state.isBroken, let handle = unsafe state.handle else { return isthmus_mhd_end_with_error }
            guard state.backlog.isEmpty else {
                let count = min(buffer.count, state.backlog.count)
                _ = unsafe buffer.update(fromContentsOf: state.backlog[..<count])
                state.backlog.removeFirst(count)
                return count
            }
            if state.isEnded { return isthmus_mhd_end_of_stream }
            if state.isServerClosing?() ?? true { return isthmus_mhd_end_with_error }
            unsafe MHD_suspend_connection(handle)
            state.isSuspended = true
            return 0
        }
    }

    private static func resume(_ state: inout State) {
        guard state.isSuspended, let handle = unsafe state.handle else { return }
        state.isSuspended = false
        unsafe MHD_resume_connection(handle)
    }
}
