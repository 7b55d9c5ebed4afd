import AMQP
import Foundation
import Runtime
import TestSupport
import Testing

@Suite(.serialized) struct TLSTests {
    @Test(.timeLimit(.minutes(1)))
    func `amqps works with the right authority, and with nothing else`() async throws {
        try await TemporaryDirectory.with { directory in
            try await Certificates.write(to: directory)
            let port = try freePort()
            let configuration = """
                listeners.ssl.default = 127.0.0.1:\(port)
                ssl_options.cacertfile = \(directory)/ca.pem
                ssl_options.certfile = \(directory)/leaf.pem
                ssl_options.keyfile = \(directory)/leaf.key
                ssl_options.versions.1 = tlsv1.3
                ssl_options.versions.2 = tlsv1.2
                """
            try await PrivateRabbitMQ.with(definitions: TestTopology.definitions, configuration: configuration) {
                server in
                let fixtures = Fixtures(server)
                let good = "amqps://test:test@localhost:\(port)/"
                try await fixtures.publish(over: AMQPEndpoint(url: good, caFile: directory + "/ca.pem"))

                let impostor = try Certificates.serve(directory, as: "elsewhere")
                defer { impostor.process.kill() }
                try await fixtures.expectRefusal(
                    "amqps://test:test@localhost:\(impostor.port)/", caFile: directory + "/ca.pem", status: -0x201)
                try await fixtures.expectRefusal(good, caFile: directory + "/other-ca.pem", status: -0x202)
                try await fixtures.expectRefusal(good, caFile: nil, status: -0x202)
                try await fixtures.expectRefusal(good, caFile: directory + "/not-there.pem", status: nil)
                // TLS to a port that speaks plain AMQP.
                try await fixtures.expectRefusal(
                    "amqps://test:test@localhost:\(server.amqpPort)/", caFile: directory + "/ca.pem", status: nil)
            }
        }
    }
}

extension Fixtures {
    fileprivate func publish(over endpoint: AMQPEndpoint) async throws {
        let publisher = AMQPPublisher(
            endpoint, name: "tests/1/publish", options: options, log: log, metrics: metrics)
        publisher.start()
        try await closing(publisher.close) {
            try await publisher.waitUntilReady(within: .seconds(10))
            let outcomes = Gathered<PublishError?>()
            for number in 0..<500 {
                publisher.publish(message(number, size: 5000), to: .confirms) { outcomes.append($0.error) }
            }
            try await eventually("all have their outcome") { outcomes.count == 500 }
            #expect(Set(outcomes.all) == [nil])
        }
    }

    /// - Parameter status: librabbitmq's, if it must be that one.
    fileprivate func expectRefusal(_ url: String, caFile: String?, status: Int?) async throws {
        let publisher = AMQPPublisher(
            try AMQPEndpoint(url: url, caFile: caFile), name: "tests/1/publish", options: options, log: log,
            metrics: metrics)
        publisher.start()
        try await closing(publisher.close) {
            let error = await #expect(throws: AMQPError.self) {
                try await publisher.waitUntilReady(within: .seconds(1))
            }
            if let status { #expect(error?.words.contains("(\(status))") == true, "\(String(describing: error))") }
        }
    }
}

/// Two authorities, and two certificates of the first one: for `localhost` and for another host.
private enum Certificates {
    static func write(to directory: String) async throws {
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
                "x509 -req -in \(file).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
                    + " -copy_extensions copy -out \(file).pem")
        }
    }

    /// A TLS server that shows the certificate of that name.
    static func serve(_ directory: String, as name: String) throws -> (process: LocalProcess, port: UInt16) {
        let port = try freePort()
        let process = try start(
            directory, "s_server -quiet -accept 127.0.0.1:\(port) -cert \(name).pem -key \(name).key")
        return (process, port)
    }

    private static func openssl(_ directory: String, _ arguments: String) async throws {
        let status = try await start(directory, arguments).waitForExit(within: .seconds(20))
        let said = try String(contentsOfFile: directory + "/openssl.log", encoding: .utf8)
        try #require(status == 0, "\(said)")
    }

    private static func start(_ directory: String, _ arguments: String) throws -> LocalProcess {
        try LocalProcess.start(
            "/usr/bin/openssl", arguments.split(separator: " ").map(String.init), environment: ["HOME": directory],
            workingDirectory: directory, logFile: directory + "/openssl.log")
    }
}
