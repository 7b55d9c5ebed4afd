import CNGHTTP2
import Glibc
import Runtime

/// TCP sockets that do not block.
///
/// The caller closes the descriptors.
enum Socket {
    private static let backlog: Int32 = 256

    /// Begins to connect: the descriptor turns writable when that is over, then ask `takeError`.
    ///
    /// - Parameter userTimeout: How long sent bytes may stay unacknowledged before the connection counts as dead.
    static func startConnecting(to address: SocketAddress, userTimeout: Duration) throws(ConnectionEnd) -> Int32 {
        let descriptor = try make(address.family)
        var milliseconds = UInt32(clamping: userTimeout.milliseconds)
        unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
        setNoDelay(descriptor)
        let status = unsafe address.withPointer { unsafe connect(descriptor, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else {
            let reason = lastError()
            close(descriptor)
            throw ConnectionEnd(reason: "\(address): \(reason)")
        }
        return descriptor
    }

    /// What went wrong on the socket since the last call; `nil` if nothing did.
    static func takeError(_ descriptor: Int32) -> String? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return lastError() }
        return code == 0 ? nil : words(code)
    }

    /// Listens, and says on which port.
    static func listen(on listenAddress: ListenAddress) throws(ConnectionEnd) -> (descriptor: Int32, port: UInt16) {
        let found = SocketAddress.resolve(listenAddress.host, port: listenAddress.port, isNumeric: true)
        guard let address = try found.get().first else { throw ConnectionEnd(reason: "\(listenAddress): no address") }
        let descriptor = try make(address.family)
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = unsafe address.withPointer { unsafe bind(descriptor, $0, $1) } == 0
        guard isBound, Glibc.listen(descriptor, backlog) == 0, let port = port(of: descriptor) else {
            let reason = lastError()
            close(descriptor)
            throw ConnectionEnd(reason: "\(listenAddress): \(reason)")
        }
        return (descriptor, port)
    }

    /// The next connection that waits to be accepted.
    static func accept(_ descriptor: Int32) -> Int32? {
        let accepted = isthmus_accept(descriptor, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
        guard accepted >= 0 else { return nil }
        setNoDelay(accepted)
        return accepted
    }

    /// Reads and forgets some of what has come; false once nothing more will.
    static func discardInput(_ descriptor: Int32) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
            return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        }
    }

    private static func make(_ family: Int32) throws(ConnectionEnd) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw ConnectionEnd(reason: lastError()) }
        return descriptor
    }

    /// Batches are made by us, so the kernel need not wait for more.
    private static func setNoDelay(_ descriptor: Int32) {
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        // Port and family stand at the same place in both kinds of address.
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return status == 0 ? UInt16(bigEndian: address.sin6_port) : nil
    }

    private static func lastError() -> String { words(errno) }

    private static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

/// Blocks SIGPIPE for this thread: a write to a closed socket then fails with EPIPE, whatever the process does.
func blockBrokenPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
