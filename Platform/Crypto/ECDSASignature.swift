import COpenSSL

/// An ECDSA signature on P-256 in its two forms: JWT's r‖s (RFC 7518, 3.4) and OpenSSL's DER.
enum ECDSASignature {
    private static let numberBytes = 32

    /// 64 bytes from DER.
    static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        unsafe der.withUnsafeBufferPointer { der in
            var cursor = der.baseAddress
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &cursor, der.count) else { return nil }
            defer { unsafe ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: 2 * numberBytes)
            let written = unsafe raw.withUnsafeMutableBufferPointer { raw in
                unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, Int32(numberBytes))
                    + BN_bn2binpad(
                        ECDSA_SIG_get0_s(signature), raw.baseAddress?.advanced(by: numberBytes), Int32(numberBytes))
            }
            return written == 2 * numberBytes ? raw : nil
        }
    }

    /// DER from exactly 64 bytes; `nil` for another length or a number that is zero.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * numberBytes else { return nil }
        let r = Array(raw.prefix(numberBytes))
        let s = Array(raw.suffix(numberBytes))
        guard r.contains(where: { $0 != 0 }), s.contains(where: { $0 != 0 }) else { return nil }
        let signature = unsafe ECDSA_SIG_new()
        defer { unsafe ECDSA_SIG_free(signature) }
        // The numbers belong to the signature once it took them, which it does not do for a missing one alone.
        let rNumber = unsafe BN_bin2bn(r, Int32(numberBytes), nil)
        let sNumber = unsafe BN_bin2bn(s, Int32(numberBytes), nil)
        guard unsafe ECDSA_SIG_set0(signature, rNumber, sNumber) == 1 else {
            unsafe BN_free(rNumber)
            unsafe BN_free(sNumber)
            return nil
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ECDSA_SIG(signature, &encoded)
        defer { unsafe CRYPTO_free(encoded, #file, #line) }
        return count > 0 ? unsafe Array(UnsafeBufferPointer(start: encoded, count: Int(count))) : nil
    }
}
