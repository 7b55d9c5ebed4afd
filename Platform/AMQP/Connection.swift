import CRabbitMQ
import Crypto
import Glibc
import Runtime

/// The only type that holds an `amqp_connection_state_t`: one logged-in connection, used by one thread.
///
/// After a thrown error whose kind is not `.channel` the connection is finished: drop it and open another.
@safe final class Connection {
    static let frameMax: Int32 = 131_072

    let state: amqp_connection_state_t
    let arena = Arena()
    let callGuard: CallGuard
    /// Message contents that have begun and not ended, by channel.
    var partial: [UInt16: PartialContent] = [:]
    /// Until when the broker's certificate holds, in seconds since 1970; `nil` without TLS.
    private(set) var certificateNotAfter: Int64?
    private var openChannels: Set<UInt16> = []
    private var lastChannel: UInt16 = 0

    /// Connects and logs in; blocks for as long as the options allow.
    init(
        _ endpoint: AMQPEndpoint, at address: AMQPEndpoint.Address, name: String, options: AMQPOptions
    ) throws(AMQPError) {
        guard let state = unsafe amqp_new_connection() else { throw AMQPError(.connection, "connect", "out of memory") }
        unsafe self.state = unsafe state
        callGuard = CallGuard(limit: options.callTimeout)
        var connectLimit = timeval(options.connectTimeout)
        var callLimit = timeval(options.callTimeout)
        unsafe try check("set time limits", amqp_set_handshake_timeout(state, &connectLimit))
        unsafe try check("set time limits", amqp_set_rpc_timeout(state, &callLimit))
        let socket = unsafe try socket(endpoint)
        unsafe try check(
            "connect to \(address)",
            amqp_socket_open_noblock(socket, address.host, Int32(address.port), &connectLimit))
        callGuard.watch(fileDescriptor)
        let reply = unsafe callGuard.call {
            unsafe isthmus_login(
                state, endpoint.vhost, endpoint.user, endpoint.password.reveal(), name, Self.frameMax,
                Int32(options.heartbeat.seconds.rounded(.up)))
        }
        unsafe try check("log in to \(address) as \(endpoint.user)", reply)
        if endpoint.caFile != nil, let context = unsafe Self.context(of: socket) {
            certificateNotAfter = unsafe PeerCertificate.notAfter(context: context)
        }
    }

    deinit {
        callGuard.watch(nil)
        // With nothing to wait for, no farewell of TLS can hold the thread.
        if fileDescriptor >= 0 { shutdown(fileDescriptor, Int32(SHUT_RDWR)) }
        unsafe amqp_destroy_connection(state)
    }

    /// To be polled for reading.
    var fileDescriptor: Int32 { unsafe amqp_get_sockfd(state) }

    /// Whether `nextEvent` has something although the socket may have nothing.
    var hasInput: Bool { unsafe amqp_frames_enqueued(state) != 0 || amqp_data_in_buffer(state) != 0 }

    /// Makes `count` calls whose frames go out together: a packet for each would cost the broker a wake-up for each.
    func together(_ count: Int, _ calls: () throws(AMQPError) -> Void) throws(AMQPError) {
        guard count > 1 else { return try calls() }
        setCork(1)
        defer { setCork(0) }
        try calls()
    }

    private func setCork(_ isOn: Int32) {
        var isOn = isOn
        // Without it the frames go out one by one, which is slower and not wrong.
        _ = unsafe setsockopt(
            fileDescriptor, Int32(IPPROTO_TCP), TCP_CORK, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Says goodbye.
    ///
    /// An error is of no interest any more: the broker sees the socket close in any case.
    func closePolitely() { _ = unsafe callGuard.call { unsafe amqp_connection_close(state, AMQP_REPLY_SUCCESS) } }

    /// The plain or TLS socket, which belongs to the connection.
    private func socket(_ endpoint: AMQPEndpoint) throws(AMQPError) -> OpaquePointer {
        guard let caFile = endpoint.caFile else {
            guard let socket = unsafe amqp_tcp_socket_new(state) else {
                throw AMQPError(.connection, "connect", "no socket")
            }
            return unsafe socket
        }
        guard let socket = unsafe amqp_ssl_socket_new(state) else {
            throw AMQPError(.connection, "connect", "no TLS socket")
        }
        unsafe amqp_ssl_socket_set_verify_peer(socket, 1)
        unsafe amqp_ssl_socket_set_verify_hostname(socket, 1)
        unsafe try check("require TLS 1.2", amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST))
        unsafe try check("read the CA file \(caFile)", amqp_ssl_socket_set_cacert(socket, caFile))
        if let context = unsafe Self.context(of: socket) { unsafe PeerCertificate.watch(context: context) }
        return unsafe socket
    }

    /// OpenSSL's context of a TLS socket; the library shows no more of the connection than that.
    private static func context(of socket: OpaquePointer) -> OpaquePointer? {
        unsafe OpaquePointer(amqp_ssl_socket_get_context(socket))
    }

    /// A channel number that was not in use lately, so that a late frame of its predecessor does no harm.
    func unusedChannel() throws(AMQPError) -> UInt16 {
        let limit = unsafe amqp_get_channel_max(state)
        let last = limit > 0 ? UInt16(clamping: limit) : .max
        guard openChannels.count < Int(last) else {
            throw AMQPError(.channel, "open a channel", "all \(last) are in use")
        }
        repeat { lastChannel = lastChannel >= last ? 1 : lastChannel + 1 } while openChannels.contains(lastChannel)
        return lastChannel
    }

    func noteOpened(_ channel: UInt16) { openChannels.insert(channel) }

    func noteClosed(_ channel: UInt16) {
        openChannels.remove(channel)
        partial[channel] = nil
    }
}

extension timeval {
    init(_ duration: Duration) {
        let microseconds = Int((duration.seconds * 1_000_000).rounded(.up))
        self.init(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }
}
