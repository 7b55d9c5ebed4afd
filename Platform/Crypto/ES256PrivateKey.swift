import COpenSSL

/// A private key on P-256 that signs as JWT's ES256 (RFC 7518, 3.4): ECDSA with SHA-256.
package struct ES256PrivateKey: Sendable {
    let key: EVPKey

    /// Reads a PKCS#8 key in PEM, the form of Apple's `.p8` files.
    package init(pem: String) throws(CryptoError) {
        let source = PEMText(pem)
        guard let key = unsafe EVPKey(taking: isthmus_read_private_key(source.bio)) else {
            throw CryptoError(
                .unusableKey, "this is not a private key in PEM without a pass phrase: \(takeOpenSSLWords())")
        }
        guard key.isP256 else { throw CryptoError(.unusableKey, "ES256 needs a private key on the curve P-256") }
        self.key = key
    }

    private init(_ key: EVPKey) { self.key = key }

    /// A new key.
    package static func generate() throws(CryptoError) -> ES256PrivateKey {
        guard let key = unsafe EVPKey(taking: isthmus_generate_p256()) else {
            throw CryptoError(.failed, "no key could be made: \(takeOpenSSLWords())")
        }
        return ES256PrivateKey(key)
    }

    /// The key as PKCS#8 in PEM.
    package var pem: String {
        let target = PEMText()
        precondition(unsafe isthmus_write_private_key(target.bio, key.pointer) == 1, "out of memory")
        return target.text
    }

    /// The public point, each coordinate 32 bytes in Base64URL, as a JWK names it.
    package var publicJWK: (x: String, y: String) {
        (Base64URL.encode(coordinate(OSSL_PKEY_PARAM_EC_PUB_X)), Base64URL.encode(coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)))
    }

    private func coordinate(_ name: String) -> [UInt8] {
        var number: OpaquePointer?
        let found = unsafe EVP_PKEY_get_bn_param(key.pointer, name, &number)
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 32)
        precondition(unsafe found == 1 && BN_bn2binpad(number, &bytes, 32) == 32, "a key on P-256 has a public point")
        return bytes
    }

    /// The signature over SHA-256 of `bytes`: 64 bytes, r and s one after the other.
    package func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 128)
        var count = der.count
        guard unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key.pointer, nil) == 1,
            unsafe EVP_DigestSign(context, &der, &count, bytes, bytes.count) == 1,
            let raw = ECDSASignature.raw(fromDER: Array(der.prefix(count)))
        else { throw CryptoError(.failed, "signing failed: \(takeOpenSSLWords())") }
        return raw
    }
}
