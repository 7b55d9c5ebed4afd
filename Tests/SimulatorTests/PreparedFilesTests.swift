import Crypto
import Foundation
import TestSupport
import Testing

@testable import Simulator

@Suite struct PreparedFilesTests {
    @Test func `every secret is made once and readable by its owner only`() async throws {
        try await TemporaryDirectory.with { parent in
            let directory = parent + "/new"
            try PreparedFiles.write(to: directory)
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
            }
            let open = ["ca.pem", "server.pem"]
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            for name in names where !open.contains(name) {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            _ = try ES256PrivateKey(pem: text("apns-key.p8"))
            _ = try JWKSet(json: Array(text("jwks.json").utf8))
            _ = try Keyring(fileTexts: [text("data-key")])
            #expect(WebhookSignature(secret: try text("webhook-secret")) != nil)
            let before = try names.map(text)
            try PreparedFiles.write(to: directory)
            let after = try names.map(text)
            #expect(after == before)
        }
    }
}
