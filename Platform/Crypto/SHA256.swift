import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32 bytes of the digest.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        if let digest = bytes.withContiguousStorageIfAvailable({ unsafe hash(UnsafeRawBufferPointer($0)) }) {
            return digest
        }
        return unsafe Array(bytes).withUnsafeBytes { unsafe hash($0) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            let status = unsafe EVP_Digest(
                bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm.pointer, nil)
            precondition(status == 1, "OpenSSL has no SHA-256")
            count = 32
        }
    }

    private static let algorithm = Algorithm()

    /// Looked up once: a look-up at each use costs more than hashing a short text.
    @safe private final class Algorithm: @unchecked Sendable {
        // Sendable is right although unchecked: a fetched algorithm is constant and lives as long as the process.
        let pointer: OpaquePointer?

        init() { unsafe pointer = EVP_MD_fetch(nil, "SHA256", nil) }
    }
}
