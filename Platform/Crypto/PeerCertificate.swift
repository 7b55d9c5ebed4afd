import COpenSSL

/// Until when the certificate of the other side holds, where another library speaks TLS over OpenSSL.
package enum PeerCertificate {
    /// Seconds since 1970; `nil` before the handshake.
    ///
    /// - Parameter connection: An `SSL *`.
    package static func notAfter(connection: OpaquePointer) -> Int64? {
        let seconds = unsafe isthmus_tls_peer_not_after(connection)
        return seconds > 0 ? seconds : nil
    }

    /// Has a context remember it, for a library that does not show its connection.
    ///
    /// - Parameter context: An `SSL_CTX *` of one connection, which has not begun.
    package static func watch(context: OpaquePointer) { unsafe isthmus_tls_watch_peer(context) }

    /// Seconds since 1970; `nil` before the handshake.
    ///
    /// - Parameter context: An `SSL_CTX *` that is watched.
    package static func notAfter(context: OpaquePointer) -> Int64? {
        let seconds = unsafe isthmus_tls_noted_not_after(context)
        return seconds > 0 ? seconds : nil
    }
}
