import Foundation
import Runtime

/// Two authorities, and two certificates of the first one: for `localhost` and for another host.
package enum Certificates {
    /// Writes `ca.pem` and `other-ca.pem`, and by the first `leaf.pem` for `localhost` and `elsewhere.pem`, each with its
    /// `.key`.
    package static func write(to directory: String) async throws {
        for name in ["ca", "other-ca"] {
            try await openssl(
                directory,
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
                    + " -subj /CN=\(name) -keyout \(name).key -out \(name).pem")
        }
        for (file, host) in [("leaf", "localhost"), ("elsewhere", "elsewhere.example")] {
            try await openssl(
                directory,
                "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=\(host)"
                    + " -addext subjectAltName=DNS:\(host) -keyout \(file).key -out \(file).csr")
            try await openssl(
                directory,
                "x509 -req -in \(file).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1"
                    + " -copy_extensions copy -out \(file).pem")
        }
    }

    /// Until when a certificate holds, in seconds since 1970, as the command of OpenSSL reads it.
    package static func notAfter(_ name: String, in directory: String) async throws -> Int {
        let said = try await openssl(directory, "x509 -in \(name).pem -noout -enddate -dateopt iso_8601")
        let date = said.split(separator: "\n").last { $0.hasPrefix("notAfter=") }?.dropFirst("notAfter=".count) ?? ""
        return Int(try Date(date.replacing(" ", with: "T"), strategy: .iso8601).timeIntervalSince1970)
    }

    /// A TLS server that shows the certificate of that name.
    package static func serve(_ directory: String, as name: String) throws -> (process: LocalProcess, port: UInt16) {
        let port = try freePort()
        let process = try start(
            directory, "s_server -quiet -accept 127.0.0.1:\(port) -cert \(name).pem -key \(name).key")
        return (process, port)
    }

    @discardableResult
    private static func openssl(_ directory: String, _ arguments: String) async throws -> String {
        let status = try await start(directory, arguments).waitForExit(within: .seconds(30))
        let said = try String(contentsOfFile: directory + "/openssl.log", encoding: .utf8)
        guard status == 0 else { throw ServerNotStarted(log: said) }
        return said
    }

    private static func start(_ directory: String, _ arguments: String) throws -> LocalProcess {
        try LocalProcess.start(
            "/usr/bin/openssl", arguments.split(separator: " ").map(String.init), environment: ["HOME": directory],
            workingDirectory: directory, logFile: directory + "/openssl.log")
    }
}
