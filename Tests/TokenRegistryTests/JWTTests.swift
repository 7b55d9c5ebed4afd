import Crypto
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

@Suite struct JWTTests {
    let clock = ManualClock()
    let signer: Signer
    let verifier: JWTVerifier

    init() throws {
        signer = try Signer()
        verifier = JWTVerifier(
            keys: try signer.keys(Log(service: "test") { _ in }), issuer: Signer.issuer, audience: Signer.audience,
            clock: clock.wallClock)
    }

    func claims(_ changes: [String: String?] = [:]) -> String {
        let now = Int(clock.now.timeIntervalSince1970)
        var claims = [
            "iss": "\"\(Signer.issuer)\"", "aud": "\"\(Signer.audience)\"", "sub": "\"sam\"", "exp": "\(now + 600)",
            "iat": "\(now)",
        ]
        for (name, value) in changes { claims[name] = value }
        return "{" + claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test func `a good token is taken`() throws {
        #expect(try verifier.verify(signer.sign(claims: claims())).subject == "sam")
        #expect(try verifier.verify(signer.sign(header: #"{"alg":"ES256"}"#, claims: claims())).subject == "sam")
        let several = claims(["aud": "[\"other\",\"\(Signer.audience)\"]"])
        #expect(try verifier.verify(signer.sign(claims: several)).subject == "sam")
    }

    @Test func `claims that do not hold are refused, a minute of clock difference is not`() throws {
        let now = Int(clock.now.timeIntervalSince1970)
        let cases: [(changes: [String: String?], isTaken: Bool)] = [
            (["iss": "\"other\""], false), (["iss": nil], false), (["aud": "\"other\""], false), (["aud": "[]"], false),
            (["aud": nil], false), (["exp": nil], false), (["exp": "\"\(now + 600)\""], false),
            (["exp": "\(now - 61)"], false), (["exp": "\(now - 59)"], true), (["nbf": "\(now + 61)"], false),
            (["nbf": "\(now + 59)"], true), (["iat": "\(now + 61)"], false), (["iat": "\(now + 59)"], true),
            (["sub": nil], false), (["sub": "\"\""], false), (["sub": "7"], false), (["sub": "\"a\\u0000b\""], false),
        ]
        for (changes, isTaken) in cases {
            let token = try signer.sign(claims: claims(changes))
            #expect(((try? verifier.verify(token)) != nil) == isTaken, "\(changes)")
        }
    }

    @Test func `headers that would choose the key or the algorithm are refused`() throws {
        for header in [
            #"{"alg":"none"}"#, #"{"alg":"HS256","kid":"one"}"#, #"{"alg":"RS256","kid":"one"}"#,
            #"{"alg":"ES256","kid":"two"}"#, #"{"alg":"ES256","kid":"one","crit":["exp"]}"#,
            #"{"alg":"ES256","kid":"one","typ":"other"}"#, #"{"kid":"one"}"#, #"{"alg":"es256","kid":"one"}"#, "[]",
            "x",
        ] {
            #expect(throws: CredentialRefused.self, "\(header)") {
                try verifier.verify(signer.sign(header: header, claims: claims()))
            }
        }
        let unsigned =
            Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + "." + Base64URL.encode(Array(claims().utf8)) + "."
        #expect(throws: CredentialRefused.self) { try verifier.verify(unsigned) }
    }

    @Test func `a key that the token itself brings is not looked at`() throws {
        let stranger = try Signer()
        let point = stranger.key.publicJWK
        let header = #"""
            {"alg":"ES256","kid":"one","jku":"https://evil.example/keys",
             "jwk":{"kty":"EC","crv":"P-256","x":"\#(point.x)","y":"\#(point.y)"}}
            """#
        #expect(throws: CredentialRefused.self) { try verifier.verify(stranger.sign(header: header, claims: claims())) }
    }

    @Test func `a secret made of the public key signs nothing`() throws {
        let signed =
            Base64URL.encode(Array(#"{"alg":"HS256","kid":"one"}"#.utf8)) + "." + Base64URL.encode(Array(claims().utf8))
        for secret in [signer.jwks, signer.key.publicJWK.x] {
            let mac = HMACKey(Array(secret.utf8)).authenticate(Array(signed.utf8))
            #expect(throws: CredentialRefused.self) { try verifier.verify(signed + "." + Base64URL.encode(mac)) }
        }
    }

    @Test func `signatures that are changed, zero, DER or missing are refused`() throws {
        let token = try signer.sign(claims: claims())
        let parts = token.split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        var changed = signature
        changed[10] ^= 1
        let der: [UInt8] =
            [0x30, 70, 0x02, 33, 0] + Array(signature.prefix(32)) + [0x02, 33, 0] + Array(signature.suffix(32))
        for bad in [changed, [UInt8](repeating: 0, count: 64), der, [], Array(signature.dropLast())] {
            #expect(throws: CredentialRefused.self) {
                try verifier.verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(bad))")
            }
        }
        let other = Base64URL.encode(Array(claims(["sub": "\"kim\""]).utf8))
        #expect(throws: CredentialRefused.self) { try verifier.verify("\(parts[0]).\(other).\(parts[2])") }
    }

    @Test func `a token of more than four kilobytes is refused`() throws {
        let token = try signer.sign(claims: claims(["more": "\"\(String(repeating: "x", count: 4096))\""]))
        #expect(throws: CredentialRefused.self) { try verifier.verify(token) }
    }

    @Test func `handles count as proven only if the claim says so`() throws {
        let cases: [(String, [String])] = [
            (#","phone_number":"+12025559876","phone_number_verified":true"#, ["+12025559876"]),
            (#","email":"Sam@Example.com","email_verified":"true""#, ["sam@example.com"]),
            (#","email":"sam@example.com""#, []), (#","email":"sam@example.com","email_verified":false"#, []),
            (#","email":"sam@example.com","email_verified":1"#, []), (#","email_verified":true"#, []),
            (#","phone_number":"2025559876","phone_number_verified":true"#, []),
        ]
        for (more, handles) in cases {
            let claims = try verifier.verify(signer.token("sam", more, at: clock))
            #expect(claims.verifiedHandles.map(\.text) == handles, "\(more)")
        }
    }

    @Test func `keys are rotated by writing the file anew, and a broken file changes nothing`() async throws {
        try await TemporaryDirectory.with { folder in
            let path = "\(folder)/keys.json"
            let next = try Signer()
            try Data(signer.jwks.utf8).write(to: URL(fileURLWithPath: path))
            let keys = try JWTKeys(path: path, log: Log(service: "test") { _ in })
            let verifier = JWTVerifier(
                keys: keys, issuer: Signer.issuer, audience: Signer.audience, clock: clock.wallClock)
            let old = try signer.token("sam", at: clock)
            let new = try next.token("sam", at: clock)
            #expect((try? verifier.verify(old)) != nil)
            #expect((try? verifier.verify(new)) == nil)
            try Data(next.jwks.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try await eventually("the new key counts") { (try? verifier.verify(new)) != nil }
            #expect((try? verifier.verify(old)) == nil)
            try Data("{".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try await Task.sleep(for: .seconds(JWTKeys.interval * 1.1))
            #expect((try? verifier.verify(new)) != nil)
        }
    }

    @Test func `keys in a Secret of Kubernetes, a link to a link, are rotated as well`() async throws {
        try await TemporaryDirectory.with { folder in
            let files = FileManager.default
            let next = try Signer()
            for (version, keys) in [("1", signer.jwks), ("2", next.jwks)] {
                try files.createDirectory(atPath: "\(folder)/..\(version)", withIntermediateDirectories: false)
                try Data(keys.utf8).write(to: URL(fileURLWithPath: "\(folder)/..\(version)/jwks.json"))
            }
            try files.createSymbolicLink(atPath: "\(folder)/..data", withDestinationPath: "..1")
            try files.createSymbolicLink(atPath: "\(folder)/jwks.json", withDestinationPath: "..data/jwks.json")
            let verifier = JWTVerifier(
                keys: try JWTKeys(path: "\(folder)/jwks.json", log: Log(service: "test") { _ in }),
                issuer: Signer.issuer, audience: Signer.audience, clock: clock.wallClock)
            #expect((try? verifier.verify(signer.token("sam", at: clock))) != nil)
            try files.removeItem(atPath: "\(folder)/..data")
            try files.createSymbolicLink(atPath: "\(folder)/..data", withDestinationPath: "..2")
            try await eventually("the new key counts") {
                (try? verifier.verify(next.token("sam", at: clock))) != nil
            }
            #expect((try? verifier.verify(signer.token("sam", at: clock))) == nil)
        }
    }
}
