import COpenSSL

/// A key for HMAC-SHA-256 (RFC 2104), ready to be used from many threads at once.
package struct HMACKey: Sendable {
    private let state: State

    package init(_ bytes: [UInt8]) { state = State(bytes) }

    /// The 32-byte code over the parts one after the other, as if they were joined.
    ///
    /// Nothing is copied.
    package func authenticate(_ parts: [UInt8]...) -> [UInt8] {
        unsafe state.withCopy { context in
            for part in parts {
                let status = unsafe part.withUnsafeBufferPointer {
                    unsafe EVP_MAC_update(context, $0.baseAddress, $0.count)
                }
                precondition(status == 1, "OpenSSL refused to authenticate")
            }
        }
    }

    /// The same over parts that are not arrays.
    package func authenticate(parts: [UnsafeRawBufferPointer]) -> [UInt8] {
        unsafe state.withCopy { context in
            unsafe parts.forEach { part in
                let bytes = unsafe part.assumingMemoryBound(to: UInt8.self)
                let status = unsafe EVP_MAC_update(context, bytes.baseAddress, bytes.count)
                precondition(status == 1, "OpenSSL refused to authenticate")
            }
        }
    }

    /// The state of HMAC after the key went in.
    @safe private final class State: @unchecked Sendable {
        // Sendable is right although unchecked: after `init` the context is only ever read, to be copied.
        private let keyed: OpaquePointer

        init(_ bytes: [UInt8]) {
            // HMAC fills a short key up with zeros, so one zero byte is the empty key, which OpenSSL does not take.
            let key = bytes.isEmpty ? [0] : bytes
            guard let context = unsafe isthmus_hmac_sha256(key, key.count) else {
                preconditionFailure("OpenSSL has no HMAC-SHA-256")
            }
            unsafe keyed = context
        }

        deinit { unsafe EVP_MAC_CTX_free(keyed) }

        func withCopy(_ update: (OpaquePointer) -> Void) -> [UInt8] {
            guard let context = unsafe EVP_MAC_CTX_dup(keyed) else { preconditionFailure("out of memory") }
            defer { unsafe EVP_MAC_CTX_free(context) }
            unsafe update(context)
            return unsafe [UInt8](unsafeUninitializedCapacity: 32) { code, count in
                let status = unsafe EVP_MAC_final(context, code.baseAddress, &count, 32)
                precondition(status == 1 && count == 32, "OpenSSL refused to authenticate")
            }
        }
    }
}
