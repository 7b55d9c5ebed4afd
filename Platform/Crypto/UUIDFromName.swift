package import Foundation

/// The same UUID for the same name, everywhere and always.
package enum UUIDFromName {
    /// A version 8 UUID (RFC 9562, 5.8): the head of SHA-256 over the namespace, a zero byte and the name.
    package static func make(_ namespace: String, _ name: String) -> UUID {
        var hash = SHA256.hash(Array(namespace.utf8) + [0] + Array(name.utf8))
        hash[6] = hash[6] & 0x0F | 0x80
        hash[8] = hash[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7],
                hash[8], hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
            ))
    }
}
