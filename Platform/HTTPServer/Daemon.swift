import CMicroHTTPD
import Glibc
import Runtime

/// One thread of the library, and the connections that it serves.
///
/// There are several rather than one with a pool of threads: without a listening socket the library knows no pool
/// (microhttpd.h, `MHD_USE_NO_LISTEN_SOCKET`).
///
/// Sendable is right although unchecked: the pointer never changes, and the two calls it is used for may be made from
/// any thread.
@safe final class Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// - Parameter core: Must outlive the daemon: the callbacks reach it unretained.
    init(core: ServerCore) throws(HTTPServerError) {
        let limits = core.limits
        let options = isthmus_mhd_options(
            // Request headers and answer headers share this memory; the library reads headers into half of it.
            connection_memory: max(limits.maxHeaderBytes * 2 + 8192, 32 << 10),
            // Never reached: see `Places`.
            connections: UInt32(Places.maxPerThread * 2),
            idle_seconds: UInt32(limits.idleTimeout.seconds.rounded(.up)))
        let started = unsafe isthmus_mhd_start(
            options, Unmanaged.passUnretained(core).toOpaque(),
            onCall, onBegin, { _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0 }, onCompleted, onConnection)
        guard let started = unsafe started else {
            throw HTTPServerError(description: "the HTTP server's threads could not be started")
        }
        unsafe pointer = started
    }

    /// Starts so many, or none.
    static func start(_ count: Int, core: ServerCore) throws(HTTPServerError) -> [Daemon] {
        var started: [Daemon] = []
        do { for _ in 0..<count { try started.append(Daemon(core: core)) } } catch {
            for daemon in started { daemon.stop() }
            throw error
        }
        return started
    }

    /// Takes over a client's connection; false if it could not and has closed it.
    func add(_ client: AcceptedClient) -> Bool {
        var address = client.address
        return unsafe isthmus_mhd_add(pointer, client.fileDescriptor, &address, client.addressSize) != 0
    }

    /// Waits for the thread's end, when no connection is suspended any more.
    ///
    /// To be called once, after the last `add`.
    func stop() { unsafe MHD_stop_daemon(pointer) }
}

private func core(_ context: UnsafeMutableRawPointer) -> ServerCore {
    unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
}

/// A connection was taken up, or is about to be closed.
private func onConnection(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let slot = unsafe slot else { return }
    let core = unsafe core(context)
    if event == .CONNECTION_NOTIFY_STARTED {
        let descriptor = unsafe isthmus_mhd_socket(handle)
        let connection = Connection(
            fileDescriptor: descriptor, remoteAddress: core.places.address(of: descriptor),
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
