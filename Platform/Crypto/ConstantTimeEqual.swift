import COpenSSL

/// Whether the bytes are the same, in a time that tells nothing about where they differ.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
