import Crypto
import Foundation
import Runtime
import Shared

/// Checks the customer's own sign-in tokens: JSON Web Signatures in compact form (RFC 7515, 7519, 8725).
struct JWTVerifier: Sendable {
    /// How far the signer's clock may be from ours, in seconds.
    static let leeway = 60.0
    static let mostBytes = 4096

    let keys: JWTKeys
    let issuer: String
    let audience: String
    let clock: WallClock

    /// Returns the claims of a token that is genuine, meant for us and valid now.
    func verify(_ token: String) throws(CredentialRefused) -> JWTClaims {
        guard token.utf8.count <= Self.mostBytes else {
            throw CredentialRefused("the token is longer than \(Self.mostBytes) bytes")
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let body = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw CredentialRefused("the token is not three parts in base64url") }
        try checkSignature(header, signature, over: Array("\(parts[0]).\(parts[1])".utf8))
        let claims = try decode(JWTClaims.self, body, "claims")
        try check(claims)
        return claims
    }

    /// Keys come from our own file alone: `jwk`, `jku`, `x5u` in the header are not looked at (RFC 8725, 3.10), and an
    /// extension that must be understood is not (RFC 7515, 4.1.11).
    private func checkSignature(
        _ header: [UInt8], _ signature: [UInt8], over bytes: [UInt8]
    ) throws(CredentialRefused) {
        let header = try decode(Header.self, header, "header")
        guard !header.hasCriticalExtensions else { throw CredentialRefused("the token demands an extension") }
        if let type = header.typ?.lowercased() {
            guard ["jwt", "at+jwt", "application/at+jwt"].contains(type) else {
                throw CredentialRefused("the token's typ is not JWT")
            }
        }
        guard keys.current.verify(alg: header.alg, kid: header.kid, signature: signature, over: bytes) else {
            throw CredentialRefused("no key that we have made the token's signature with its algorithm")
        }
    }

    private func check(_ claims: JWTClaims) throws(CredentialRefused) {
        let now = clock.now.timeIntervalSince1970
        guard claims.iss == issuer else { throw CredentialRefused("the token's iss is not our issuer") }
        guard claims.aud.contains(audience) else { throw CredentialRefused("the token's aud does not name us") }
        guard claims.exp > now - Self.leeway else { throw CredentialRefused("the token has expired") }
        if let notBefore = claims.nbf, notBefore > now + Self.leeway {
            throw CredentialRefused("the token is not valid yet")
        }
        if let issuedAt = claims.iat, issuedAt > now + Self.leeway {
            throw CredentialRefused("the token was issued in the future")
        }
        guard Identifier.isValid(claims.sub) else { throw CredentialRefused("the token's sub cannot be a user id") }
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ bytes: [UInt8], _ what: String
    ) throws(CredentialRefused) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw CredentialRefused("the token's \(what) cannot be read")
        }
    }

    private struct Header: Decodable {
        let alg: String
        let kid, typ: String?
        let hasCriticalExtensions: Bool

        private enum CodingKeys: String, CodingKey { case alg, kid, typ, crit }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            alg = try container.decode(String.self, forKey: .alg)
            kid = try container.decodeIfPresent(String.self, forKey: .kid)
            typ = try container.decodeIfPresent(String.self, forKey: .typ)
            hasCriticalExtensions = container.contains(.crit)
        }
    }
}

/// The claims that we look at.
struct JWTClaims: Sendable, Decodable {
    let iss: String
    let sub: String
    let aud: [String]
    /// Seconds since 1970.
    ///
    /// A token that never expires is not taken.
    let exp: Double
    let nbf, iat: Double?
    /// The phone number and the e-mail address that the issuer says were proven to be the user's.
    let verifiedHandles: [Handle]

    var subject: String { sub }

    private enum CodingKeys: String, CodingKey {
        case iss, sub, aud, exp, nbf, iat, email
        case emailVerified = "email_verified"
        case phoneNumber = "phone_number"
        case phoneNumberVerified = "phone_number_verified"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        iss = try container.decode(String.self, forKey: .iss)
        sub = try container.decode(String.self, forKey: .sub)
        exp = try container.decode(Double.self, forKey: .exp)
        nbf = try container.decodeIfPresent(Double.self, forKey: .nbf)
        iat = try container.decodeIfPresent(Double.self, forKey: .iat)
        do {
            aud = [try container.decode(String.self, forKey: .aud)]
        } catch DecodingError.typeMismatch {
            aud = try container.decode([String].self, forKey: .aud)
        }
        var handles: [Handle] = []
        for (claim, proof) in [(CodingKeys.phoneNumber, CodingKeys.phoneNumberVerified), (.email, .emailVerified)]
        where Self.isTrue(proof, in: container) {
            let text = try container.decodeIfPresent(String.self, forKey: claim)
            if let handle = text.flatMap(Handle.init) { handles.append(handle) }
        }
        verifiedHandles = handles
    }

    /// OpenID Connect says a boolean; Sign in with Apple also sends the text "true".
    private static func isTrue(_ key: CodingKeys, in container: KeyedDecodingContainer<CodingKeys>) -> Bool {
        // What is neither does not prove anything.
        if let flag = try? container.decode(Bool.self, forKey: key) { return flag }
        return (try? container.decode(String.self, forKey: key)) == "true"
    }
}
