import CRabbitMQ
import Foundation
import Runtime
import Shared

/// The broker's own speed: a loop over librabbitmq that publishes the same persistent message again and again to all
/// partitions of a stage and reads the confirms, up to a window behind.
struct BarePublish {
    private let connection: amqp_connection_state_t
    private let exchange: String
    private let routingKeys: [String]
    private let body: [UInt8]

    static func run(_ options: [String: String]) async throws -> any Encodable {
        guard let url = URLComponents(string: try options.text("url")) else { throw Failure(description: "--url") }
        let stage = Stage(rawValue: options["stage"] ?? "inbound") ?? .inbound
        let keys = (0..<(try options.number("partitions"))).map(Partition.name)
        let body = [UInt8](repeating: 0x61, count: try options.number("size", default: 900))
        let loop = try BarePublish(url, exchange: stage.exchange, routingKeys: keys, body: body)
        return try loop.publish(try options.number("count"), window: try options.number("window", default: 1024))
    }

    private init(_ url: URLComponents, exchange: String, routingKeys: [String], body: [UInt8]) throws {
        self.exchange = exchange
        self.routingKeys = routingKeys
        self.body = body
        connection = try BareConnection(url).state
        amqp_confirm_select(connection, 1)
    }

    private func publish(_ count: Int, window: Int) throws -> Rate {
        var properties = amqp_basic_properties_t()
        properties._flags = UInt32(AMQP_BASIC_DELIVERY_MODE_FLAG)
        properties.delivery_mode = 2
        let name = BareHops.bytes(exchange)
        let keys = routingKeys.map(BareHops.bytes)
        let bytes = amqp_bytes_malloc(body.count)
        bytes.bytes.copyMemory(from: body, byteCount: body.count)
        var confirms = Confirms(count)
        var sent = 0
        let start = monotonicSeconds()
        while confirms.settled < count {
            while sent < count, sent - confirms.settled < window {
                let status = amqp_basic_publish(connection, 1, name, keys[sent % keys.count], 1, 0, &properties, bytes)
                guard status == AMQP_STATUS_OK.rawValue else { throw Failure(description: "publish: \(status)") }
                sent += 1
            }
            try readConfirm(&confirms)
        }
        return Rate(count, in: monotonicSeconds() - start)
    }

    private func readConfirm(_ confirms: inout Confirms) throws {
        var frame = amqp_frame_t()
        let status = amqp_simple_wait_frame(connection, &frame)
        defer { amqp_maybe_release_buffers(connection) }
        guard status == AMQP_STATUS_OK.rawValue else { throw Failure(description: "confirm: \(status)") }
        guard frame.frame_type == AMQP_FRAME_METHOD, frame.payload.method.id == isthmus_basic_ack else {
            throw Failure(description: "the broker did not confirm: is the topology there?")
        }
        let ack = frame.payload.method.decoded.load(as: amqp_basic_ack_t.self)
        confirms.acknowledged(Int(ack.delivery_tag), multiple: ack.multiple != 0)
    }
}

/// How many publishes are confirmed; queues confirm on their own, so tags come in any order.
private struct Confirms {
    private(set) var settled = 0
    private var isSettled: [Bool]
    private var first = 1

    init(_ count: Int) { isSettled = [Bool](repeating: false, count: count + 1) }

    mutating func acknowledged(_ tag: Int, multiple: Bool) {
        for tag in (multiple ? min(first, tag) : tag)...tag where !isSettled[tag] {
            isSettled[tag] = true
            settled += 1
        }
        if multiple { first = max(first, tag + 1) }
    }
}
