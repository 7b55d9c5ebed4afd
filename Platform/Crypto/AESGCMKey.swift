import COpenSSL
import Runtime

/// A 256-bit key for AES in Galois/Counter Mode (NIST SP 800-38D), with the id that sealed bytes name it by.
package struct AESGCMKey: Sendable {
    static let nonceBytes = 12
    static let tagBytes = 16

    package let id: String
    private let key: Secret<[UInt8]>

    /// - Parameters:
    ///   - id: 1 to 64 letters, digits, `-`, `_` or `.`.
    ///   - key: 32 bytes.
    package init(id: String, key: [UInt8]) throws(CryptoError) {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy(Self.isIDByte) else {
            throw CryptoError(.unusableKey, "a key id has 1 to 64 letters, digits, '-', '_' or '.'")
        }
        guard key.count == 32 else { throw CryptoError(.unusableKey, "the key \(id) has \(key.count) bytes, not 32") }
        self.id = id
        self.key = Secret(key)
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Ciphertext and tag.
    ///
    /// A nonce must never be used twice with a key.
    func seal(_ plain: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
        let cipher = CipherContext()
        var sealed = [UInt8](repeating: 0, count: plain.count + Self.tagBytes)
        let done = unsafe sealed.withUnsafeMutableBytes { sealed in
            unsafe cipher.seal(plain, key: key.reveal(), nonce: nonce, context: context, into: sealed)
        }
        precondition(done, "OpenSSL refused to seal with AES-256-GCM")
        return sealed
    }

    /// The plaintext, or `nil` if anything was changed.
    func open(_ sealed: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, nonce.count == Self.nonceBytes else { return nil }
        let cipher = CipherContext()
        var plain = [UInt8](repeating: 0, count: sealed.count - Self.tagBytes)
        let genuine = unsafe plain.withUnsafeMutableBytes { plain in
            unsafe cipher.open(sealed, key: key.reveal(), nonce: nonce, context: context, into: plain)
        }
        return genuine ? plain : nil
    }
}

/// One use of AES-256-GCM.
@safe private struct CipherContext: ~Copyable {
    private let pointer: OpaquePointer?

    init() { unsafe pointer = EVP_CIPHER_CTX_new() }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

    func seal(
        _ plain: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8], into sealed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let out = unsafe sealed.assumingMemoryBound(to: UInt8.self).baseAddress
        var length: Int32 = 0
        guard unsafe EVP_EncryptInit_ex2(pointer, EVP_aes_256_gcm(), key, nonce, nil) == 1,
            unsafe EVP_EncryptUpdate(pointer, nil, &length, context, Int32(context.count)) == 1,
            unsafe EVP_EncryptUpdate(pointer, out, &length, plain, Int32(plain.count)) == 1,
            Int(length) == plain.count,
            unsafe EVP_EncryptFinal_ex(pointer, out?.advanced(by: plain.count), &length) == 1
        else { return false }
        let tag = unsafe out?.advanced(by: plain.count)
        return unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCMKey.tagBytes), tag) == 1
    }

    func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8], into plain: UnsafeMutableRawBufferPointer
    ) -> Bool {
        defer { ERR_clear_error() }
        let out = unsafe plain.assumingMemoryBound(to: UInt8.self).baseAddress
        var tag = Array(sealed.suffix(AESGCMKey.tagBytes))
        var length: Int32 = 0
        return unsafe EVP_DecryptInit_ex2(pointer, EVP_aes_256_gcm(), key, nonce, nil) == 1
            && EVP_DecryptUpdate(pointer, nil, &length, context, Int32(context.count)) == 1
            && EVP_DecryptUpdate(pointer, out, &length, sealed, Int32(plain.count)) == 1
            && EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(AESGCMKey.tagBytes), &tag) == 1
            && EVP_DecryptFinal_ex(pointer, out?.advanced(by: plain.count), &length) == 1
    }
}
