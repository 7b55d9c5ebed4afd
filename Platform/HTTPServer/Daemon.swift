import CMicroHTTPD
import Glibc
import Runtime

/// The running library.
///
/// Whoever takes it out of the server calls `stop()`, once.
///
/// Sendable is right although unchecked: the pointer never changes, and the two calls it is used for may be made from
/// any thread.
@safe final class Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// How many connections a thread may have, so that it never gets 128 events at once.
    ///
    /// libmicrohttpd 0.9.75 takes 128 at a time, and when it got all 128 it waits once more before it deals with any:
    /// those clients stand still until another one moves. The listening socket and the wake-up channel count too.
    private static let maxConnectionsPerThread = 125

    /// - Parameter core: Must outlive the daemon: the callbacks reach it unretained.
    init(socket: Int32, threads: Int, core: ServerCore) throws(HTTPServerError) {
        let limits = core.limits
        let options = isthmus_mhd_options(
            listen_socket: socket,
            threads: UInt32(max(threads, (limits.maxConnections - 1) / Self.maxConnectionsPerThread + 1)),
            // Request headers and answer headers share this memory; the library reads headers into half of it.
            connection_memory: max(limits.maxHeaderBytes * 2 + 8192, 32 << 10),
            connections: UInt32(limits.maxConnections),
            connections_per_address: UInt32(limits.maxConnectionsPerAddress ?? 0),
            idle_seconds: UInt32(limits.idleTimeout.seconds.rounded(.up)))
        let started = unsafe isthmus_mhd_start(
            options, Unmanaged.passUnretained(core).toOpaque(),
            onCall, onBegin, { _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0 }, onCompleted, onConnection)
        guard let started = unsafe started else {
            throw HTTPServerError(description: "the HTTP server's threads could not be started")
        }
        unsafe pointer = started
    }

    /// Waits for the threads' end, when no connection is suspended any more.
    func stop() { unsafe MHD_stop_daemon(pointer) }

    /// Takes no new connections; the listening socket stays open.
    func quiesce() { _ = unsafe MHD_quiesce_daemon(pointer) }
}

private func core(_ context: UnsafeMutableRawPointer) -> ServerCore {
    unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
}

/// A connection was accepted, or is about to be closed.
private func onConnection(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let slot = unsafe slot else { return }
    let core = unsafe core(context)
    if event == .CONNECTION_NOTIFY_STARTED {
        let connection = unsafe Connection(
            fileDescriptor: isthmus_mhd_socket(handle), remoteAddress: text(of: isthmus_mhd_address(handle)),
            deadline: monotonicSeconds() + core.limits.headerTimeout.seconds)
        core.opened(connection)
        unsafe slot.pointee = Unmanaged.passRetained(connection).toOpaque()
    } else if let held = unsafe slot.pointee {
        unsafe core.closed(Unmanaged<Connection>.fromOpaque(held).takeRetainedValue())
        unsafe slot.pointee = nil
    }
}

/// A request's first line was read.
///
/// What is returned stands for the request until `onCompleted`, which comes once.
private func onBegin(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context, let held = unsafe isthmus_mhd_socket_context(handle) else { return nil }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
    connection.enter(.headers, until: monotonicSeconds() + (unsafe core(context)).limits.headerTimeout.seconds)
    let text = unsafe target.map { unsafe String(cString: $0) } ?? ""
    return unsafe Unmanaged.passRetained(Exchange(connection: connection, rawTarget: text)).toOpaque()
}

/// Something of a request is there; or its answer is, if the connection was suspended.
private func onCall(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ target: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ bytes: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let handle = unsafe handle, let held = unsafe slot?.pointee,
        let target = unsafe target, let method = unsafe method, let version = unsafe version, let size = unsafe size
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
    let intake = unsafe RequestIntake(core(context), exchange, handle)
    switch exchange.progress.step {
    case .fresh:
        // Target and version lie in one buffer, a space apart.
        return unsafe intake.headersArrived(method: String(cString: method), targetLength: version - target - 1)
    case .reading where unsafe size.pointee > 0:
        let count = unsafe size.pointee
        unsafe size.pointee = 0
        return unsafe intake.bodyArrived(UnsafeRawBufferPointer(start: bytes, count: count))
    case .reading: return intake.requestArrived()
    case .dispatched: return intake.answer()
    case .answered: return .YES
    }
}

/// The request is over: answered, broken off, or cut short by the server's end.
private func onCompleted(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
    unsafe slot.pointee = nil
    unsafe core(context).finished(Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
}
