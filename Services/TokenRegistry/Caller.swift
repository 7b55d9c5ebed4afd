import Crypto
import Runtime
import Shared

/// Who makes a call, once their credential has been checked.
enum Caller: Sendable, Equatable {
    /// The customer's own server: reaches every user.
    case backend
    /// A signed-in user of the customer's app: reaches their own paths.
    case user(id: String, verifiedHandles: [Handle])

    func mayReach(_ userID: String) -> Bool {
        switch self {
        case .backend: true
        case .user(let id, _): id.isSame(as: userID)
        }
    }
}

/// Checks `Authorization: Bearer …` (RFC 6750): a backend key or a JWT.
struct Authenticator: Sendable {
    /// SHA-256 of each key, so that comparing takes the same time whatever was sent.
    private let backendKeys: [[UInt8]]
    private let tokens: JWTVerifier?

    init(backendKeys: [String], tokens: JWTVerifier?) {
        self.backendKeys = backendKeys.map { SHA256.hash(Array($0.utf8)) }
        self.tokens = tokens
    }

    func caller(_ authorization: String?) throws(CredentialRefused) -> Caller {
        guard let authorization else { throw CredentialRefused("there is no Authorization header") }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw CredentialRefused("Authorization is not \"Bearer\" and a credential")
        }
        let credential = String(parts[1])
        let hash = SHA256.hash(Array(credential.utf8))
        var isBackend = false
        for key in backendKeys where constantTimeEqual(key, hash) { isBackend = true }
        if isBackend { return .backend }
        guard let tokens, credential.contains(".") else { throw CredentialRefused("the key is not known") }
        let claims = try tokens.verify(credential)
        return .user(id: claims.subject, verifiedHandles: claims.verifiedHandles)
    }
}

/// Why a credential is not taken, in words that repeat nothing of it.
struct CredentialRefused: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
