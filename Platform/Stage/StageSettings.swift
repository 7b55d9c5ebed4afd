package import AMQP
package import Runtime
import Shared

extension Settings {
    /// `AMQP_URL` and `AMQP_CA_FILE`; `nil` stands in while the problems are gathered.
    package mutating func broker() -> AMQPEndpoint? {
        let caFile = absent("AMQP_CA_FILE", "certificates that RabbitMQ's must be signed by, PEM") { $0 }
        return required("AMQP_URL", "RabbitMQ, amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://", placeholder: nil) {
            try AMQPEndpoint(url: $0, caFile: caFile)
        }
    }

    /// `PARTITIONS`: as many as the broker's topology was made with.
    package mutating func partitions() -> Int {
        optional("PARTITIONS", "queues a stage, as the broker has them", default: "16") { text in
            Int(text).flatMap { (1...256).contains($0) ? $0 : nil }
        }
    }

    /// `METRICS_LISTEN`: `/healthz`, `/readyz` and `/metrics`.
    package mutating func metricsListen(default fallback: String) -> ListenAddress {
        optional(
            "METRICS_LISTEN", "where /healthz, /readyz and /metrics are, ADDRESS:PORT", default: fallback,
            ListenAddress.init)
    }

    /// A length of time such as `SESSION_IDLE`.
    package mutating func duration(_ name: String, _ help: String, default fallback: String) -> Duration {
        optional(name, "\(help); 90s, 15m, 8h", default: fallback) { Duration($0) }
    }
}
