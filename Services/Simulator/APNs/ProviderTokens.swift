import Crypto
import Foundation
import Runtime

/// Checks the JWTs that senders show to APNs ("Establishing a token-based connection to APNs").
///
/// Used by one thread: that of the HTTP/2 server.
struct ProviderTokens: Sendable {
    /// A token may be this old, in seconds.
    static let oldest: Int64 = 3600
    /// How far ahead of our clock a token may have been issued, in seconds.
    static let furthestAhead: Int64 = 60
    /// A connection may change its token once in this many seconds, not twice.
    static let changeInterval: Int64 = 1200
    /// Checked signatures that are remembered.
    private static let memory = 1000

    let teamID: String
    let keyID: String
    private let keys: JWKSet
    /// When the tokens whose signature is right were issued.
    private var known: [String: Int64] = [:]
    /// The token of each connection, and when it last became another one.
    private var connections: [Int: (token: String, changedAt: Int64?)] = [:]

    /// - Parameter key: The sender's private key; only its public half is used.
    init(teamID: String, keyID: String, key: ES256PrivateKey) throws(CryptoError) {
        self.teamID = teamID
        self.keyID = keyID
        let (x, y) = key.publicJWK
        let jwk: JSONValue = [
            "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": .string(keyID), "x": .string(x), "y": .string(y),
        ]
        keys = try JWKSet(json: Array(JSONValue.object(["keys": [jwk]]).text.utf8))
    }

    /// Checks the `authorization` header of a request.
    mutating func check(_ authorization: String?, connection: Int, at now: Int64) throws(APNSRefusal) {
        guard let authorization else { throw .missingProviderToken }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missingProviderToken }
        let token = String(words[1])
        let issuedAt = try issuedAt(token)
        guard issuedAt <= now + Self.furthestAhead else { throw .invalidProviderToken }
        guard now - issuedAt <= Self.oldest else { throw .expiredProviderToken }
        guard let last = connections[connection] else {
            if connections.count > Self.memory { connections = [:] }
            connections[connection] = (token, nil)
            return
        }
        guard last.token != token else { return }
        if let changedAt = last.changedAt, now - changedAt < Self.changeInterval { throw .tooManyProviderTokenUpdates }
        connections[connection] = (token, now)
    }

    private mutating func issuedAt(_ token: String) throws(APNSRefusal) -> Int64 {
        if let known = known[token] { return known }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"] == "ES256", header["kid"]?.string == keyID,
            claims["iss"]?.string == teamID,
            // A whole number; some senders wrote a string here, and Apple refuses it.
            let issuedAt = claims["iat"]?.integer,
            keys.verify(alg: "ES256", kid: keyID, signature: signature, over: Array("\(parts[0]).\(parts[1])".utf8))
        else { throw .invalidProviderToken }
        if known.count > Self.memory { known = [:] }
        known[token] = issuedAt
        return issuedAt
    }

    private static func object(_ part: String) -> JSONValue? {
        // What is no JSON is no valid token: the caller says so.
        Base64URL.decode(part).flatMap { try? JSONValue(parsing: $0) }
    }
}
