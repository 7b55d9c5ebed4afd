import CRabbitMQ
import Foundation
import Runtime
import Shared

/// What one message takes through the broker when nothing else goes on: until it is confirmed, and until it is delivered.
enum BareHops {
    struct Figures: Encodable {
        /// Milliseconds, the middle one and the slowest of a hundred.
        let confirm, confirmP99, deliver, deliverP99: Double
    }

    static func run(_ options: [String: String]) async throws -> any Encodable {
        guard let url = URLComponents(string: try options.text("url")) else { throw Failure(description: "--url") }
        let count = try options.number("count", default: 500)
        let queue = try options.text("queue")
        let publisher = try BareConnection(url)
        let consumer = try BareConnection(url)
        amqp_confirm_select(publisher.state, 1)
        amqp_basic_qos(consumer.state, 1, 0, 64, 0)
        amqp_basic_consume(consumer.state, 1, bytes(queue), amqp_bytes_t(), 0, 0, 0, amqp_table_t())
        var confirms: [Double] = []
        var deliveries: [Double] = []
        for _ in 0..<count {
            let start = monotonicSeconds()
            try publisher.publish(to: queue, size: 700)
            try publisher.nextFrame()
            confirms.append(monotonicSeconds() - start)
            // Method, header and body: the three frames of a delivery.
            for _ in 0..<3 { try consumer.nextFrame() }
            deliveries.append(monotonicSeconds() - start)
            amqp_basic_ack(consumer.state, 1, 0, 1)
        }
        return Figures(
            confirm: share(0.5, confirms), confirmP99: share(0.99, confirms), deliver: share(0.5, deliveries),
            deliverP99: share(0.99, deliveries))
    }

    private static func share(_ share: Double, _ seconds: [Double]) -> Double {
        seconds.sorted()[Int(Double(seconds.count - 1) * share)] * 1000
    }

    static func bytes(_ text: String) -> amqp_bytes_t { amqp_bytes_malloc_dup(amqp_cstring_bytes(text)) }
}

/// A connection of librabbitmq with one open channel; it ends with the process.
struct BareConnection {
    let state: amqp_connection_state_t

    init(_ url: URLComponents) throws {
        state = amqp_new_connection()
        let socket = amqp_tcp_socket_new(state)
        guard amqp_socket_open(socket, url.host ?? "127.0.0.1", Int32(url.port ?? 5672)) == AMQP_STATUS_OK.rawValue
        else { throw Failure(description: "cannot connect to the broker") }
        let login = isthmus_login(state, "/", url.user ?? "", url.password ?? "", "load", 131_072, 0)
        guard login.reply_type == AMQP_RESPONSE_NORMAL else { throw Failure(description: "cannot log in") }
        amqp_channel_open(state, 1)
    }

    /// Publishes a persistent message straight to a queue.
    func publish(to queue: String, size: Int) throws {
        var properties = amqp_basic_properties_t()
        properties._flags = UInt32(AMQP_BASIC_DELIVERY_MODE_FLAG)
        properties.delivery_mode = 2
        var body = [UInt8](repeating: 0x61, count: size)
        let status = body.withUnsafeMutableBytes { body in
            amqp_basic_publish(
                state, 1, amqp_cstring_bytes(""), BareHops.bytes(queue), 1, 0, &properties,
                amqp_bytes_t(len: size, bytes: body.baseAddress))
        }
        guard status == AMQP_STATUS_OK.rawValue else { throw Failure(description: "publish: \(status)") }
    }

    func nextFrame() throws {
        var frame = amqp_frame_t()
        guard amqp_simple_wait_frame(state, &frame) == AMQP_STATUS_OK.rawValue else {
            throw Failure(description: "the broker closed the connection")
        }
        amqp_maybe_release_buffers(state)
    }
}
