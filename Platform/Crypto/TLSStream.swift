import COpenSSL
import Glibc

/// One TLS connection over a socket that does not block.
///
/// It belongs to one thread.
///
/// The descriptor stays the caller's: close it after the last use of the stream. Writing to a closed socket raises
/// SIGPIPE, so the process ignores that signal or the thread blocks it.
@safe package final class TLSStream {
    /// How far an operation came.
    package enum Step: Equatable {
        /// So many bytes went through; there may be more to do at once.
        case moved(Int)
        /// Nothing can be done before the socket is readable.
        case wantsRead
        /// Nothing can be done before the socket is writable.
        case wantsWrite
        /// The peer ended the connection.
        case closed
    }

    private let ssl: OpaquePointer
    private let context: TLSContext

    /// The client's end.
    ///
    /// - Parameter host: A DNS name or an IP address; the peer's certificate must be made out to it.
    package init(_ context: TLSContext, connectedTo host: String, fileDescriptor: Int32) throws(TLSError) {
        precondition(!context.isServer, "a client needs a client's context")
        self.context = context
        unsafe ssl = try Self.make(context, fileDescriptor)
        let isAddress = unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
        ERR_clear_error()
        if !isAddress {
            unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard !host.isEmpty, unsafe SSL_set1_host(ssl, host) == 1,
                unsafe isthmus_tls_send_host_name(ssl, host) == 1
            else { throw TLSError("host name", takeOpenSSLWords()) }
        }
        unsafe SSL_set_connect_state(ssl)
    }

    /// The server's end.
    package init(_ context: TLSContext, acceptedOn fileDescriptor: Int32) throws(TLSError) {
        precondition(context.isServer, "a server needs a server's context")
        self.context = context
        unsafe ssl = try Self.make(context, fileDescriptor)
        unsafe SSL_set_accept_state(ssl)
    }

    private static func make(_ context: TLSContext, _ fileDescriptor: Int32) throws(TLSError) -> OpaquePointer {
        guard let ssl = unsafe SSL_new(context.pointer) else { throw TLSError("set-up", takeOpenSSLWords()) }
        guard unsafe SSL_set_fd(ssl, fileDescriptor) == 1 else {
            unsafe SSL_free(ssl)
            throw TLSError("set-up", takeOpenSSLWords())
        }
        return unsafe ssl
    }

    deinit { unsafe SSL_free(ssl) }

    /// Goes on with the handshake; `.moved(0)` once it is done.
    package func handshake() throws(TLSError) -> Step {
        ERR_clear_error()
        let status = unsafe SSL_do_handshake(ssl)
        return status == 1 ? .moved(0) : try step("handshake", status)
    }

    /// The protocol that both ends agreed on, after the handshake.
    package var negotiatedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        guard length > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// Until when the peer's certificate holds, in seconds since 1970; `nil` before the handshake.
    package var peerNotAfter: Int64? {
        unsafe PeerCertificate.notAfter(connection: ssl)
    }

    /// "TLSv1.3" or "TLSv1.2".
    package var version: String { unsafe String(cString: SSL_get_version(ssl)) }

    /// Reads what is there, one record at the most.
    ///
    /// Read until `.wantsRead` before waiting on the socket: bytes that OpenSSL took from it already do not wake anybody.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Step {
        ERR_clear_error()
        var count = 0
        let status = unsafe SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return status == 1 ? .moved(count) : try step("read", status)
    }

    /// Writes the head of `bytes`, one record (16 KiB) at the most; the caller goes on with the rest.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) -> Step {
        guard unsafe !bytes.isEmpty else { return .moved(0) }
        ERR_clear_error()
        var count = 0
        let status = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        return status == 1 ? .moved(count) : try step("write", status)
    }

    /// Tells the peer that nothing more will come, if the socket takes it at once.
    package func sendCloseNotify() {
        ERR_clear_error()
        // The connection ends in any case, so whether the peer heard of it does not matter.
        _ = unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    private func step(_ operation: String, _ status: Int32) throws(TLSError) -> Step {
        let systemError = errno
        switch unsafe SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            throw TLSError(
                operation, systemError == 0 ? "the peer closed" : unsafe String(cString: strerror(systemError)))
        default:
            let verdict = unsafe SSL_get_verify_result(ssl)
            let words = takeOpenSSLWords()
            guard verdict != Int(X509_V_OK) else { throw TLSError(operation, words) }
            throw TLSError(operation, "\(words): \(unsafe String(cString: X509_verify_cert_error_string(verdict)))")
        }
    }
}
