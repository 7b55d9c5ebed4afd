import Crypto
import Foundation
import Runtime

/// The customer's own sign-in: makes the JWTs that the app shows to the registry.
struct SignIn: Sendable {
    /// How long a token is good for.
    private static let lifetime: TimeInterval = 600
    /// The id of the key in the JWKS file.
    static let keyID = "simulator-sign-in"

    let key: ES256PrivateKey
    let issuer: String?
    let audience: String?
    let bundleID: String
    let clock: WallClock

    /// A JWT of the user's, with the first phone number and e-mail address among `handles` as verified claims.
    func token(for userID: String, handles: [String]) -> String {
        let now = clock.seconds
        var claims: [String: JSONValue] = [
            "sub": .string(userID), "iat": .integer(now), "exp": .integer(now + Int64(Self.lifetime)),
        ]
        if let issuer { claims["iss"] = .string(issuer) }
        if let audience { claims["aud"] = .string(audience) }
        if let phone = handles.first(where: { $0.hasPrefix("+") }) {
            claims["phone_number"] = .string(phone)
            claims["phone_number_verified"] = true
        }
        if let email = handles.first(where: { $0.contains("@") }) {
            claims["email"] = .string(email)
            claims["email_verified"] = true
        }
        let header: JSONValue = ["alg": "ES256", "kid": .string(Self.keyID), "typ": "JWT"]
        let signed =
            Base64URL.encode(Array(header.text.utf8)) + "."
            + Base64URL.encode(Array(JSONValue.object(claims).text.utf8))
        // A key that has been read can sign; without a signature the registry refuses and the page shows it.
        let signature = (try? key.sign(Array(signed.utf8))) ?? []
        return signed + "." + Base64URL.encode(signature)
    }

    /// The public half for the registry, as a JWKS (RFC 7517).
    static func keySet(of key: ES256PrivateKey) -> String {
        let (x, y) = key.publicJWK
        let jwk: JSONValue = [
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": .string(keyID), "x": .string(x),
            "y": .string(y),
        ]
        return JSONValue.object(["keys": [jwk]]).text
    }
}
