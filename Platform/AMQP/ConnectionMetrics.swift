import Crypto
import Runtime

/// The figures of one connection, labelled by what it is for: the last part of its name.
struct ConnectionMetrics: Sendable {
    let published: Counter
    let confirmSeconds: Histogram
    let inFlight: Gauge
    let returned: Counter
    let nacked: Counter
    let reconnects: Counter
    let blocked: Gauge
    let certificateNotAfter: Gauge

    init(_ metrics: Metrics, connection name: String) {
        let labels = ["connection": name.split(separator: "/").last.map(String.init) ?? name]
        published = metrics.counter("isthmus_amqp_published_total", "Messages the broker confirmed.", labels)
        confirmSeconds = metrics.histogram(
            "isthmus_amqp_confirm_seconds", "From handing a message over to its confirm.", labels)
        inFlight = metrics.gauge("isthmus_amqp_in_flight", "Messages without the broker's answer.", labels)
        returned = metrics.counter("isthmus_amqp_returned_total", "Messages that no queue took.", labels)
        nacked = metrics.counter("isthmus_amqp_nacked_total", "Messages the broker refused.", labels)
        reconnects = metrics.counter("isthmus_amqp_reconnects_total", "Lost or failed connections.", labels)
        blocked = metrics.gauge("isthmus_amqp_blocked", "1 while the broker takes no messages.", labels)
        certificateNotAfter = metrics.certificateNotAfter(client: "rabbitmq")
    }
}
