import Foundation

/// The public keys that tokens may be signed with (RFC 7517), each bound to its one algorithm.
///
/// The algorithm comes from the key, never from the token alone: `none`, `HS256` and an algorithm of another kind of key
/// find no key here (RFC 8725, 3.1).
package struct JWKSet: Sendable {
    private static let maxKeys = 64
    private static let minRSABits = 2048

    private struct Key: Sendable {
        let id: String?
        let algorithm: String
        let key: EVPKey
    }

    private struct Document: Decodable {
        struct Member: Decodable {
            let kty: String
            let kid, alg, use, crv, x, y, n, e: String?
        }
        let keys: [Member]
    }

    private let keys: [Key]

    /// Reads a JWK set.
    ///
    /// Keys of a kind that we do not use, or that are not for signing, are left out.
    package init(json: [UInt8]) throws(CryptoError) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json)) else {
            throw CryptoError(.unusableKey, "this is not a JWK set: an object with the array \"keys\"")
        }
        guard document.keys.count <= Self.maxKeys else {
            throw CryptoError(.unusableKey, "the JWK set has more than \(Self.maxKeys) keys")
        }
        var keys: [Key] = []
        for (index, member) in document.keys.enumerated() where member.use ?? "sig" == "sig" {
            guard let algorithm = Self.algorithm(of: member), member.alg ?? algorithm == algorithm else { continue }
            guard let key = Self.key(of: member) else {
                throw CryptoError(.unusableKey, "key number \(index + 1) of the JWK set is not a good \(algorithm) key")
            }
            if let id = member.kid, keys.contains(where: { $0.id == id }) {
                throw CryptoError(.unusableKey, "two keys of the JWK set have the same kid")
            }
            keys.append(Key(id: member.kid, algorithm: algorithm, key: key))
        }
        guard !keys.isEmpty else {
            throw CryptoError(.unusableKey, "the JWK set has no key for ES256, RS256 or EdDSA signatures")
        }
        self.keys = keys
    }

    private static func algorithm(of member: Document.Member) -> String? {
        switch (member.kty, member.crv) {
        case ("EC", "P-256"): "ES256"
        case ("RSA", _): "RS256"
        case ("OKP", "Ed25519"): "EdDSA"
        default: nil
        }
    }

    private static func key(of member: Document.Member) -> EVPKey? {
        switch member.kty {
        case "EC":
            guard let x = bytes(member.x), x.count == 32, let y = bytes(member.y), y.count == 32 else { return nil }
            return EVPKey.p256(x: x, y: y)
        case "RSA":
            guard let n = bytes(member.n), n.count <= 1024, let e = bytes(member.e), e.count <= 8 else { return nil }
            guard let key = EVPKey.rsa(modulus: n, exponent: e), key.bits >= minRSABits else {
                return nil
            }
            return key
        default:
            guard let x = bytes(member.x), x.count == 32 else { return nil }
            return EVPKey.ed25519(x)
        }
    }

    private static func bytes(_ text: String?) -> [UInt8]? { text.flatMap(Base64URL.decode) }

    /// Whether one of the keys made `signature` over the bytes.
    ///
    /// - Parameters:
    ///   - alg: The token's `alg`. It must be that of the key.
    ///   - kid: The token's `kid`: then only that key counts. Without it, each key of the algorithm is tried.
    ///   - signature: For ES256 the 64 bytes r‖s; DER is refused.
    package func verify(alg: String, kid: String?, signature: [UInt8], over bytes: [UInt8]) -> Bool {
        keys.contains { key in
            guard key.algorithm == alg, kid == nil || key.id == kid else { return false }
            switch key.algorithm {
            case "ES256":
                guard let der = ECDSASignature.der(fromRaw: signature) else { return false }
                return key.key.verifies(der, over: bytes, digest: "SHA256")
            case "RS256": return key.key.verifies(signature, over: bytes, digest: "SHA256")
            default: return key.key.verifies(signature, over: bytes, digest: nil)
            }
        }
    }
}
