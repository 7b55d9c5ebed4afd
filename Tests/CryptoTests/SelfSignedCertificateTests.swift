import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct SelfSignedCertificateTests {
    @Test func `the openssl program trusts the chain, for the names in it alone`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(
                to: directory, commonName: "localhost", dnsNames: ["localhost", "apns.test"], ipAddresses: ["127.0.0.1"]
            )
            func verify(_ name: String...) async throws -> Int32 {
                let command = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", files.caFile] + name
                return try await run(command + [files.certificateFile], in: directory)
            }
            #expect(try await verify("-verify_hostname", "localhost") == 0)
            #expect(try await verify("-verify_hostname", "apns.test") == 0)
            #expect(try await verify("-verify_ip", "127.0.0.1") == 0)
            #expect(try await verify("-verify_hostname", "other.test") != 0)
            #expect(try await verify("-verify_ip", "127.0.0.2") != 0)
        }
    }

    @Test func `only its owner can read the server's key, and nobody has the authority's`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(
                to: directory, commonName: "localhost", dnsNames: ["localhost"], ipAddresses: [])
            let mode = try FileManager.default.attributesOfItem(atPath: files.keyFile)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 3)
        }
    }

    @Test func `a name that cannot be is refused`() async throws {
        try await TemporaryDirectory.with { directory in
            #expect(throws: CryptoError.self) {
                try SelfSignedCertificate.write(
                    to: directory, commonName: "x", dnsNames: [], ipAddresses: ["not an address"])
            }
            #expect(throws: CryptoError.self) {
                try SelfSignedCertificate.write(
                    to: "\(directory)/missing", commonName: "x", dnsNames: ["x"], ipAddresses: [])
            }
        }
    }

    private func run(_ arguments: [String], in directory: String) async throws -> Int32 {
        let process = try LocalProcess.start(
            "/usr/bin/openssl", arguments, environment: [:], logFile: "\(directory)/verify.log")
        return try await process.waitForExit(within: .seconds(30))
    }
}
