import Crypto
import Foundation
import Runtime

/// Makes all the keys, certificates and secrets of a local set-up, so that nothing secret is ever in the repository.
enum PreparedFiles {
    /// Writes the files into `directory`, each readable by its owner only.
    ///
    /// What is there already is kept.
    static func write(to directory: String) throws {
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if !manager.fileExists(atPath: "\(directory)/server.pem") {
            _ = try SelfSignedCertificate.write(
                to: directory, commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1", "::1"])
        }
        if !manager.fileExists(atPath: "\(directory)/sign-in-key.pem") {
            let key = try ES256PrivateKey.generate()
            try write(key.pem, "sign-in-key.pem", directory)
            try write(SignIn.keySet(of: key), "jwks.json", directory)
        }
        try writeNew("apns-key.p8", directory) { try ES256PrivateKey.generate().pem }
        try writeNew("webhook-secret", directory) { "whsec_" + base64(32) }
        try writeNew("events-secret", directory) { "whsec_" + base64(32) }
        try writeNew("agent-http-secret", directory) { "whsec_" + base64(32) }
        try writeNew("data-key", directory) { "local-1:" + base64(32) }
        try writeNew("hash-key", directory) { base64(32) }
        try writeNew("backend-key", directory) { RandomBytes.make(32).hexString }
        try writeNew("linq-token", directory) { RandomBytes.make(32).hexString }
    }

    private static func base64(_ count: Int) -> String { Data(RandomBytes.make(count)).base64EncodedString() }

    private static func writeNew(_ name: String, _ directory: String, _ make: () throws -> String) throws {
        guard !FileManager.default.fileExists(atPath: "\(directory)/\(name)") else { return }
        try write(try make(), name, directory)
    }

    private struct CannotWrite: Error, CustomStringConvertible {
        let path: String
        var description: String { "cannot write \(path)" }
    }

    /// Appears whole or not at all, and never with other permissions than its owner's.
    private static func write(_ text: String, _ name: String, _ directory: String) throws {
        let path = "\(directory)/\(name)"
        let isWritten = FileManager.default.createFile(
            atPath: path + ".new", contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw CannotWrite(path: path) }
        guard rename(path + ".new", path) == 0 else { throw CannotWrite(path: path) }
    }
}
