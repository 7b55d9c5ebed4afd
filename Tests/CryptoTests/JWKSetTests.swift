import Crypto
import Foundation
import Runtime
import TestSupport
import Testing

@Suite struct JWKSetTests {
    @Test func `RFC 7515's ES256 example is accepted`() throws {
        let set = try JWKSet(
            json: Array(
                #"""
                {"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
                """#.utf8))
        let input =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
            + "cnVlfQ"
        let signature = try #require(
            Base64URL.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
        #expect(set.verify(alg: "ES256", kid: nil, signature: signature, over: Array(input.utf8)))
        #expect(!set.verify(alg: "ES256", kid: nil, signature: signature, over: Array((input + "x").utf8)))
    }

    @Test func `RFC 8037's Ed25519 example is accepted`() throws {
        let set = try JWKSet(
            json: Array(
                #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#.utf8))
        let input = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        var signature = try #require(
            Base64URL.decode("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"))
        #expect(set.verify(alg: "EdDSA", kid: nil, signature: signature, over: input))
        #expect(!set.verify(alg: "ES256", kid: nil, signature: signature, over: input))
        signature[5] ^= 1
        #expect(!set.verify(alg: "EdDSA", kid: nil, signature: signature, over: input))
    }

    @Test func `an RS256 signature of the openssl program is accepted, and only as RS256`() async throws {
        try await TemporaryDirectory.with { directory in
            let text = Array("header.claims".utf8)
            try write(text, to: "\(directory)/text")
            let set = try JWKSet(json: try await rsaKeySet(bits: 2048, in: directory))
            try await OpenSSLCommand.run("dgst", "-sha256", "-sign", "key", "-out", "signature", "text", in: directory)
            let signature = try read("\(directory)/signature")
            #expect(set.verify(alg: "RS256", kid: "rsa", signature: signature, over: text))
            for alg in ["RS384", "RS512", "PS256", "HS256", "none", "ES256", "EdDSA", "rs256", ""] {
                #expect(!set.verify(alg: alg, kid: "rsa", signature: signature, over: text))
            }
            #expect(!set.verify(alg: "RS256", kid: "rsa", signature: Array(signature.dropLast()), over: text))
            try await OpenSSLCommand.run("dgst", "-sha512", "-sign", "key", "-out", "sha512", "text", in: directory)
            #expect(!set.verify(alg: "RS256", kid: "rsa", signature: try read("\(directory)/sha512"), over: text))
            try await OpenSSLCommand.run(
                "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sign", "key", "-out", "pss", "text",
                in: directory)
            #expect(!set.verify(alg: "RS256", kid: "rsa", signature: try read("\(directory)/pss"), over: text))
            // The modulus as an HMAC secret: the classic confusion of algorithms.
            let forged = HMACKey(Array(try #require(Base64URL.decode(rsaModulus(in: directory))))).authenticate(text)
            #expect(!set.verify(alg: "HS256", kid: "rsa", signature: forged, over: text))
        }
    }

    @Test func `a short RSA key is refused`() async throws {
        try await TemporaryDirectory.with { directory in
            let json = try await rsaKeySet(bits: 1024, in: directory)
            #expect(throws: CryptoError.self) { try JWKSet(json: json) }
        }
    }

    @Test func `an ES256 signature counts in its raw form alone`() throws {
        let key = try ES256PrivateKey.generate()
        let set = try JWKSet(json: jwks(key, kid: "one"))
        let text = Array("header.claims".utf8)
        let signature = try key.sign(text)
        let r = Array(signature.prefix(32))
        let s = Array(signature.suffix(32))
        let zero = [UInt8](repeating: 0, count: 32)
        let der = [0x30, 70, 2, 33, 0] + r + [2, 33, 0] + s
        #expect(set.verify(alg: "ES256", kid: "one", signature: signature, over: text))
        for wrong in [der, zero + zero, r + zero, zero + s, s + r, [], r, signature + [0], Array(signature.dropLast())]
        {
            #expect(!set.verify(alg: "ES256", kid: "one", signature: wrong, over: text))
        }
        for alg in ["none", "None", "", "HS256", "ES384", "RS256", "EdDSA"] {
            #expect(!set.verify(alg: alg, kid: "one", signature: signature, over: text))
            #expect(!set.verify(alg: alg, kid: "one", signature: [], over: text))
        }
    }

    @Test func `a kid chooses its key and no other`() throws {
        let first = try ES256PrivateKey.generate()
        let second = try ES256PrivateKey.generate()
        let members = [jwks(first, kid: "first"), jwks(second, kid: "second")].map {
            String(decoding: $0, as: UTF8.self).dropFirst(#"{"keys":["#.count).dropLast(2)
        }
        let set = try JWKSet(json: Array(#"{"keys":[\#(members.joined(separator: ","))]}"#.utf8))
        let signature = try second.sign([1])
        #expect(set.verify(alg: "ES256", kid: "second", signature: signature, over: [1]))
        #expect(set.verify(alg: "ES256", kid: nil, signature: signature, over: [1]))
        #expect(!set.verify(alg: "ES256", kid: "first", signature: signature, over: [1]))
        #expect(!set.verify(alg: "ES256", kid: "third", signature: signature, over: [1]))
        let twice = Array(#"{"keys":[\#(members[0]),\#(members[0])]}"#.utf8)
        #expect(throws: CryptoError.self) { try JWKSet(json: twice) }
    }

    @Test func `keys that are not for our signatures are left out, and a set without others is refused`() throws {
        let key = try ES256PrivateKey.generate()
        let unusable = [
            #"{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"a"}]}"#, #"{"keys":[]}"#, #"{}"#, "rubbish", "[]", "",
            #"{"keys":[{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#,
            String(decoding: jwks(key, more: #","use":"enc""#), as: UTF8.self),
            String(decoding: jwks(key, more: #","alg":"ES384""#), as: UTF8.self),
        ]
        for json in unusable { #expect(throws: CryptoError.self, "\(json)") { try JWKSet(json: Array(json.utf8)) } }
        let off = Base64URL.encode([UInt8](repeating: 1, count: 32))
        #expect(throws: CryptoError.self, "a point that is not on the curve") {
            try JWKSet(json: Array(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(off)","y":"\#(off)"}]}"#.utf8))
        }
        #expect(throws: Never.self) { try JWKSet(json: jwks(key, more: #","use":"sig","alg":"ES256""#)) }
    }

    private func rsaKeySet(bits: Int, in directory: String) async throws -> [UInt8] {
        try await OpenSSLCommand.run(
            "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-out", "key", in: directory)
        let modulus = try await OpenSSLCommand.run("rsa", "-in", "key", "-noout", "-modulus", in: directory)
        try write(Array(modulus.output.utf8), to: "\(directory)/modulus")
        return Array(#"{"keys":[{"kty":"RSA","kid":"rsa","n":"\#(try rsaModulus(in: directory))","e":"AQAB"}]}"#.utf8)
    }

    private func rsaModulus(in directory: String) throws -> String {
        let line = String(decoding: try read("\(directory)/modulus"), as: UTF8.self)
        let hex = line.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst("Modulus=".count)
        return Base64URL.encode(try #require([UInt8](hex: hex)))
    }
}
