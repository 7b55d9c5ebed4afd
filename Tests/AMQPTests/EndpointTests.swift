import AMQP
import Testing

@Suite struct EndpointTests {
    @Test func `a URL is read in all its parts`() throws {
        let plain = try AMQPEndpoint(url: "amqp://ingress:p%40ss@broker.internal:5673/la%2Fprod")
        #expect(plain.addresses.map(\.description) == ["broker.internal:5673"])
        #expect(plain.user == "ingress")
        #expect(plain.vhost == "la/prod")
        #expect(!plain.usesTLS)
        #expect("\(plain)" == "amqp://ingress@broker.internal:5673/la/prod")

        let secure = try AMQPEndpoint(url: "amqps://a:b@broker", caFile: "/run/ca.pem")
        #expect(secure.addresses.map(\.port) == [5671])
        #expect(secure.vhost == "/")
        #expect(secure.usesTLS)
    }

    @Test func `a cluster's nodes stand one after the other`() throws {
        let cluster = try AMQPEndpoint(url: "amqp://a:b,c@one:5673,two,[::1]:5674/la")
        #expect(cluster.addresses.map(\.description) == ["one:5673", "two:5672", "::1:5674"])
        #expect(cluster.vhost == "la")
        #expect("\(cluster)" == "amqp://a@one:5673,two:5672,::1:5674/la")
    }

    @Test(arguments: [
        "amqp://a:b@one,/", "amqp://a:b@,two/", "amqp://a:b@one,two:99999/", "amqps://a:b@one,127.0.0.1/",
        "", "http://a:b@host", "amqp://host", "amqp://user@host", "amqp://a:b@", "amqp://a:b@host/one/two",
        "amqp://a:b@host/?heartbeat=5", "amqp://a:b@host:0/", "amqp://a:b@host:99999/", "amqps://a:b@127.0.0.1/",
    ])
    func `a URL that cannot be right is refused`(url: String) {
        let error = #expect(throws: AMQPError.self) { try AMQPEndpoint(url: url) }
        #expect(error?.kind == .badURL)
    }

    @Test func `the password is shown nowhere`() throws {
        let endpoint = try AMQPEndpoint(url: "amqp://a:hunter2@host/")
        var dumped = ""
        dump(endpoint, to: &dumped)
        for text in ["\(endpoint)", String(reflecting: endpoint), dumped] { #expect(!text.contains("hunter2")) }
    }
}
