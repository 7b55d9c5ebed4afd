import COpenSSL

/// Bytes that nobody can guess.
package enum RandomBytes {
    package static func make(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // Going on with guessable bytes would be worse than to stop.
        precondition(unsafe RAND_bytes(&bytes, Int32(count)) == 1, "the machine gives no random bytes")
        return bytes
    }
}
