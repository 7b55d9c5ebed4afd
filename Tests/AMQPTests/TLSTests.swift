import AMQP
import Foundation
import Runtime
import TestSupport
import Testing

@Suite(.serialized) struct TLSTests {
    @Test(.timeLimit(.minutes(5)))
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
                let expiry = try await Certificates.notAfter("leaf", in: directory)
                #expect(
                    fixtures.metrics.render().contains(
                        #"isthmus_tls_certificate_not_after_seconds{client="rabbitmq"} \#(expiry)"#))

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
            try await publisher.waitUntilReady(within: .seconds(30))
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
            if let status {
                try await eventually("it is refused with \(status)") {
                    publisher.state.description.contains("(\(status))")
                }
            }
            await #expect(throws: AMQPError.self) { try await publisher.waitUntilReady(within: .seconds(1)) }
        }
    }
}
