import COpenSSL

/// What many TLS connections share: trust or a certificate, TLS 1.2 as the least, and the protocols offered by ALPN.
@safe package final class TLSContext: @unchecked Sendable {
    // Sendable is right although unchecked: nothing is set after `init`, and OpenSSL counts the references that
    // connections hold with atomics and locks.
    let pointer: OpaquePointer
    let isServer: Bool
    /// ALPN's form of the protocols: each with its length in front.
    ///
    /// A server's callback reads it, so it never moves.
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    /// For connecting.
    ///
    /// The peer's certificate and host name are always verified.
    ///
    /// - Parameters:
    ///   - caFile: Certificates to trust, in PEM, instead of the machine's own list.
    ///   - alpn: The protocols to offer, best first; none sends no offer.
    package static func client(caFile: String?, alpn: [String]) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: false, alpn: alpn)
        unsafe SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        let trusted =
            if let caFile {
                unsafe SSL_CTX_load_verify_file(context.pointer, caFile)
            } else {
                unsafe SSL_CTX_set_default_verify_paths(context.pointer)
            }
        guard trusted == 1 else {
            throw TLSError("certificates to trust", "\(caFile ?? "the machine's list"): \(takeOpenSSLWords())")
        }
        let offer = unsafe context.protocols
        guard unsafe SSL_CTX_set_alpn_protos(context.pointer, offer.baseAddress, UInt32(offer.count)) == 0 else {
            throw TLSError("protocols", takeOpenSSLWords())
        }
        return context
    }

    /// For accepting, with a certificate (and those that signed it) and its key, both in PEM.
    ///
    /// - Parameter alpn: The protocols to accept, best first. A client that offers only others is refused.
    package static func server(certificateFile: String, keyFile: String, alpn: [String]) throws(TLSError) -> TLSContext
    {
        let context = try TLSContext(isServer: true, alpn: alpn)
        guard unsafe SSL_CTX_use_certificate_chain_file(context.pointer, certificateFile) == 1 else {
            throw TLSError("certificate", "\(certificateFile): \(takeOpenSSLWords())")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context.pointer, keyFile, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(context.pointer) == 1
        else { throw TLSError("key", "\(keyFile): \(takeOpenSSLWords())") }
        if !alpn.isEmpty {
            // Connections keep the context alive, and the context this object's memory: see `TLSStream.context`.
            unsafe SSL_CTX_set_alpn_select_cb(
                context.pointer, selectProtocol, Unmanaged.passUnretained(context).toOpaque())
        }
        return context
    }

    private init(isServer: Bool, alpn: [String]) throws(TLSError) {
        guard let pointer = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw TLSError("set-up", takeOpenSSLWords())
        }
        unsafe self.pointer = pointer
        self.isServer = isServer
        let list = alpn.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
        unsafe protocols = .allocate(capacity: list.count)
        _ = unsafe protocols.initialize(from: list)
        guard unsafe isthmus_tls_set_common(pointer) == 1 else { throw TLSError("set-up", takeOpenSSLWords()) }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
        unsafe protocols.deallocate()
    }

    /// Picks the first of our protocols that the client offers too.
    func select(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
        from offer: UnsafePointer<UInt8>?, _ count: UInt32
    ) -> Int32 {
        var pick: UnsafeMutablePointer<UInt8>?
        let status = unsafe SSL_select_next_proto(
            &pick, length, protocols.baseAddress, UInt32(protocols.count), offer, count)
        guard status == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        unsafe chosen?.pointee = unsafe UnsafePointer(pick)
        return SSL_TLSEXT_ERR_OK
    }
}

private func selectProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?, _ offer: UnsafePointer<UInt8>?, _ count: UInt32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let owner = unsafe Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
    return unsafe owner.select(chosen, length, from: offer, count)
}
