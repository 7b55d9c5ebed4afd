import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct ES256Tests {
    /// DER of r and s, written here once more so that the test does not lean on the code under test.
    private func der(_ raw: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if bytes.first ?? 0 >= 0x80 { bytes.insert(0, at: 0) }
            return [2, UInt8(bytes.count)] + bytes
        }
        let body = number(raw.prefix(32)) + number(raw.suffix(32))
        return [0x30, UInt8(body.count)] + body
    }

    @Test func `the openssl program accepts our signatures`() async throws {
        try await TemporaryDirectory.with { directory in
            let key = try ES256PrivateKey.generate()
            try write(Array(key.pem.utf8), to: "\(directory)/key.p8")
            try await OpenSSLCommand.run("pkey", "-in", "key.p8", "-pubout", "-out", "public.pem", in: directory)
            let text = Array("header.claims".utf8)
            try write(text, to: "\(directory)/text")
            for _ in 0..<5 {
                let signature = try key.sign(text)
                #expect(signature.count == 64)
                try write(der(signature), to: "\(directory)/signature")
                let verdict = try await OpenSSLCommand.run(
                    "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text", in: directory)
                #expect(verdict.status == 0)
                #expect(verdict.output == "Verified OK\n")
            }
        }
    }

    @Test func `numbers with leading zeros keep their 32 bytes`() throws {
        let key = try ES256PrivateKey.generate()
        let set = try JWKSet(json: jwks(key))
        var short = 0
        for round in 0..<1500 {
            let text = Array("\(round)".utf8)
            let signature = try key.sign(text)
            #expect(signature.count == 64)
            if signature[0] == 0 || signature[32] == 0 {
                short += 1
                #expect(set.verify(alg: "ES256", kid: nil, signature: signature, over: text))
            }
        }
        #expect(short > 0)
    }

    @Test func `a key as Apple hands it out is read`() async throws {
        try await TemporaryDirectory.with { directory in
            try await OpenSSLCommand.run(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "AuthKey.p8",
                in: directory)
            let pem = String(decoding: try read("\(directory)/AuthKey.p8"), as: UTF8.self)
            #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            let key = try ES256PrivateKey(pem: pem)
            #expect(key.pem == pem)
            #expect(try ES256PrivateKey(pem: pem.trimmingCharacters(in: .newlines)).pem == pem)
            #expect(try JWKSet(json: jwks(key)).verify(alg: "ES256", kid: nil, signature: key.sign([1]), over: [1]))
        }
    }

    @Test func `what is not a P-256 key is refused in words that hold no key`() async throws {
        try await TemporaryDirectory.with { directory in
            let run = OpenSSLCommand.self
            try await run.run(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "p384", in: directory)
            try await run.run("genpkey", "-algorithm", "ed25519", "-out", "ed25519", in: directory)
            try await run.run(
                "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out", "rsa", in: directory)
            try await run.run(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:secret",
                "-out", "encrypted", in: directory)
            var texts = try ["p384", "ed25519", "rsa", "encrypted"].map {
                String(decoding: try read("\(directory)/\($0)"), as: UTF8.self)
            }
            let good = try ES256PrivateKey.generate().pem
            texts += ["", "rubbish", String(good.dropLast(60)), good.replacingOccurrences(of: "M", with: "?")]
            for text in texts {
                let error = #expect(throws: CryptoError.self) { try ES256PrivateKey(pem: text) }
                let words = try #require(error?.description)
                #expect(error?.kind == .unusableKey)
                for line in text.split(separator: "\n") where line.count > 8 { #expect(!words.contains(line)) }
            }
        }
    }
}

/// A JWK set of one key.
func jwks(_ key: ES256PrivateKey, kid: String? = nil, more: String = "") -> [UInt8] {
    let id = kid.map { #","kid":"\#($0)""# } ?? ""
    let (x, y) = key.publicJWK
    return Array(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(id)\#(more)}]}"#.utf8)
}
