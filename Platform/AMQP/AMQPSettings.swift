package import Runtime

extension Settings {
    /// `AMQP_URL` and `AMQP_CA_FILE`; `nil` stands in while the problems are gathered.
    package mutating func broker() -> AMQPEndpoint? {
        let caFile = absent("AMQP_CA_FILE", "certificates that RabbitMQ's must be signed by, PEM") { $0 }
        return required(
            "AMQP_URL", "RabbitMQ, amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://; a cluster's HOST:PORT,HOST:PORT",
            placeholder: nil
        ) { try AMQPEndpoint(url: $0, caFile: caFile) }
    }

    /// `PARTITIONS`: as many as the broker's topology was made with.
    package mutating func partitions() -> Int {
        optional("PARTITIONS", "queues a stage, as the broker has them, 1 to 256", default: "16") { text in
            Int(text).flatMap { (1...256).contains($0) ? $0 : nil }
        }
    }
}

extension AMQPState {
    /// Why a service that needs this connection is not ready; empty when everything is as it should be.
    package var reasonsNotReady: [String] { self == .ready ? [] : ["RabbitMQ: \(self)"] }
}
