import Database
import Foundation
import Runtime
import TestSupport
import Testing

struct PostgreSQLTLSTests {
    @Test func `a server is trusted for the right authority and the right name alone`() async throws {
        try await TemporaryDirectory.with { directory in
            try await Certificates.write(to: directory)
            try await PrivatePostgreSQL.with { server in
                try await useTLS(server, certificate: "leaf", directory)
                let url = "postgres://postgres@localhost:\(server.port)/postgres?sslmode=verify-full&sslrootcert="
                let metrics = Metrics()
                try await withDatabase(url + directory + "/ca.pem", metrics: metrics) { database in
                    let rows = try await database.read {
                        try $0.run("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                    }
                    #expect(try rows[0].text("version").hasPrefix("TLSv1."))
                }
                let expiry = try await Certificates.notAfter("leaf", in: directory)
                #expect(
                    metrics.render().contains(
                        #"isthmus_tls_certificate_not_after_seconds{client="postgres"} \#(expiry)"#))
                try await expectRefusal(url + directory + "/other-ca.pem", "certificate verify failed")
                try await expectRefusal(url + directory + "/not-there.pem", "does not exist")
                // The certificate is for localhost.
                let address = url.replacing("@localhost", with: "@127.0.0.1") + directory + "/ca.pem"
                try await expectRefusal(address, "does not match host name")

                try await useTLS(server, certificate: "elsewhere", directory)
                try await expectRefusal(url + directory + "/ca.pem", "does not match host name")
            }
        }
    }

    private func expectRefusal(_ url: String, _ words: String) async throws {
        let error = try await databaseError { try await withDatabase(url) { try await $0.probe() } }
        #expect(error.operation == .connect)
        #expect(error.words.contains(words), "\(error)")
    }

    /// Has the server itself write the files: they must belong to the user that it runs as.
    private func useTLS(_ server: PrivatePostgreSQL, certificate: String, _ directory: String) async throws {
        let files = [
            ("server.crt", try String(contentsOfFile: "\(directory)/\(certificate).pem", encoding: .utf8)),
            ("server.key", try String(contentsOfFile: "\(directory)/\(certificate).key", encoding: .utf8)),
            ("postgresql.auto.conf", "ssl = on"),
        ]
        try await withDatabase(server.url) { database in
            try await database.transaction { transaction in
                for (name, text) in files {
                    try transaction.runScript(
                        "COPY (SELECT unnest(string_to_array('\(text)', E'\\n'))) TO PROGRAM 'umask 077; cat > \(name)'"
                    )
                }
                try transaction.run("SELECT pg_reload_conf()")
            }
            try await eventually("the server speaks TLS") {
                let rows = try? await database.read { try $0.run("SHOW ssl") }
                return rows?.first?[0] == "on"
            }
        }
    }
}
