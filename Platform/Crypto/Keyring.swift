import Foundation

/// Keys for data at rest: the first one seals, each of them opens.
///
/// So a key is replaced by putting a new one in front.
///
/// Sealed bytes are: format (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext, tag (16 bytes).
package struct Keyring: Sendable {
    private static let format: UInt8 = 1

    private let first: AESGCMKey
    private let keys: [String: AESGCMKey]

    package init(_ keys: [AESGCMKey]) throws(CryptoError) {
        guard let first = keys.first else { throw CryptoError(.unusableKey, "there is no key") }
        self.first = first
        var byID: [String: AESGCMKey] = [:]
        for key in keys where byID.updateValue(key, forKey: key.id) != nil {
            throw CryptoError(.unusableKey, "two keys have the id \(key.id)")
        }
        self.keys = byID
    }

    /// Reads one key from each text: its id, a colon, and 32 bytes in Base64.
    ///
    /// The ids must differ.
    package init(fileTexts: [String]) throws(CryptoError) {
        var keys: [AESGCMKey] = []
        for (index, text) in fileTexts.enumerated() {
            let parts = text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let bytes = Data(base64Encoded: String(parts[1])) else {
                throw CryptoError(.unusableKey, "key file number \(index + 1) is not \"id:Base64 of 32 bytes\"")
            }
            keys.append(try AESGCMKey(id: String(parts[0]), key: [UInt8](bytes)))
        }
        try self.init(keys)
    }

    /// What all that the first key seals begins with.
    package var sealedPrefix: [UInt8] { [Self.format, UInt8(first.id.utf8.count)] + Array(first.id.utf8) }

    /// Seals with the first key.
    ///
    /// - Parameter context: What the bytes belong to, such as a table and a row. Opening needs the same context.
    package func seal(_ plain: [UInt8], context: [UInt8]) -> [UInt8] {
        let header = sealedPrefix
        // 96 random bits do not meet each other before some four billion seals with one key (SP 800-38D, 8.3).
        let nonce = RandomBytes.make(AESGCMKey.nonceBytes)
        return header + nonce + first.seal(plain, nonce: nonce, context: header + context)
    }

    /// Opens what `seal` made with any key of this ring.
    package func open(_ sealed: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        let forged = CryptoError(.notAuthentic, "the sealed bytes were changed or belong to another context")
        guard sealed.count >= 2, sealed[0] == Self.format else { throw forged }
        let headerEnd = 2 + Int(sealed[1])
        let nonceEnd = headerEnd + AESGCMKey.nonceBytes
        guard sealed.count >= nonceEnd + AESGCMKey.tagBytes else { throw forged }
        guard let key = keys[String(decoding: sealed[2..<headerEnd], as: UTF8.self)] else {
            throw CryptoError(.unknownKey, "the sealed bytes name a key that is not in the ring")
        }
        let plain = key.open(
            Array(sealed[nonceEnd...]), nonce: Array(sealed[headerEnd..<nonceEnd]),
            context: Array(sealed[..<headerEnd]) + context)
        guard let plain else { throw forged }
        return plain
    }
}
