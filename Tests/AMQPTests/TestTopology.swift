import Foundation
import Shared

/// A queue for each test that needs one, all bound to one direct exchange under their names.
enum TestQueue: String, CaseIterable {
    case confirms, roundTrip, order, handBack, settled, deadlines, prefetch, stale, closing, late, traced

    /// Takes no more than this many messages; refuses further ones.
    case small
    static let smallLimit = 50

    var name: String { "test.v1.\(rawValue)" }
    var key: String { rawValue }
    static let exchange = "test.v1"

    fileprivate var arguments: [String: Any] {
        var arguments: [String: Any] = [
            "x-queue-type": "quorum", "x-single-active-consumer": true, "x-delivery-limit": 20,
            "x-overflow": "reject-publish",
        ]
        if self == .small { arguments["x-max-length"] = Self.smallLimit }
        return arguments
    }
}

/// RabbitMQ definitions for the tests' brokers: the real topology with two partitions, and the tests' queues.
enum TestTopology {
    static let definitions = json(Topology(partitions: 2))

    private static func json(_ topology: Topology) -> String {
        let exchanges =
            topology.exchanges.map { ($0.name, $0.kind.rawValue) } + [(TestQueue.exchange, "direct")]
        let queues =
            topology.queues.map { ($0.name, $0.arguments.mapValues(\.json)) }
            + TestQueue.allCases.map { ($0.name, $0.arguments) }
        let bindings =
            topology.bindings.map { ($0.exchange, $0.queue, $0.routingKey) }
            + TestQueue.allCases.map { (TestQueue.exchange, $0.name, $0.key) }
        let nothing: [String: Any] = [:]
        return json([
            "exchanges": exchanges.map { name, kind in
                [
                    "name": name, "vhost": "/", "type": kind, "durable": true, "auto_delete": false,
                    "internal": false, "arguments": nothing,
                ]
            },
            "queues": queues.map { name, arguments in
                ["name": name, "vhost": "/", "durable": true, "auto_delete": false, "arguments": arguments]
            },
            "bindings": bindings.map { exchange, queue, key in
                [
                    "source": exchange, "vhost": "/", "destination": queue, "destination_type": "queue",
                    "routing_key": key, "arguments": nothing,
                ]
            },
        ])
    }

    private static func json(_ all: [String: [[String: Any]]]) -> String {
        guard let data = try? JSONSerialization.data(withJSONObject: all) else { return "not JSON" }
        return String(decoding: data, as: UTF8.self)
    }
}

extension Topology.Argument {
    fileprivate var json: Any {
        switch self {
        case .text(let text): text
        case .integer(let integer): integer
        case .flag(let flag): flag
        }
    }
}
