import COpenSSL

/// The one owner of an `EVP_PKEY *`.
@safe final class EVPKey: @unchecked Sendable {
    // Sendable is right although unchecked: the key is not changed after `init`, and OpenSSL 3 lets many threads sign
    // and verify with one key at once.
    let pointer: OpaquePointer

    /// Takes over `pointer`.
    init?(taking pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Whether this is a key on the curve P-256.
    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return false }
        return ["prime256v1", "P-256"].contains(
            String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    var bits: Int { Int(unsafe EVP_PKEY_get_bits(pointer)) }

    /// A public key on P-256; `nil` if the point is not on the curve.
    static func p256(x: [UInt8], y: [UInt8]) -> EVPKey? {
        let point = [4] + x + y  // 4: uncompressed (SEC 1, 2.3.3)
        return unsafe adopt(isthmus_p256_public_key(point, point.count))
    }

    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> EVPKey? {
        unsafe adopt(isthmus_rsa_public_key(modulus, Int32(modulus.count), exponent, Int32(exponent.count)))
    }

    static func ed25519(_ bytes: [UInt8]) -> EVPKey? {
        unsafe adopt(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count))
    }

    private static func adopt(_ pointer: OpaquePointer?) -> EVPKey? {
        ERR_clear_error()
        return unsafe EVPKey(taking: pointer)
    }

    /// Whether `signature` over `bytes` was made with the private half.
    ///
    /// - Parameter digest: "SHA256", or `nil` for an algorithm that hashes by itself.
    func verifies(_ signature: [UInt8], over bytes: [UInt8], digest: String?) -> Bool {
        defer { ERR_clear_error() }
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, pointer, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
