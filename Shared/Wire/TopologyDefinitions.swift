public import Foundation

/// Writes definitions so that a person can read them and a change of them.
var definitionsEncoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
}

extension Topology {
    private struct Definitions: Encodable {
        let vhosts: [Name]
        let exchanges: [ExchangeDefinition]
        let queues: [QueueDefinition]
        let bindings: [BindingDefinition]
    }

    private struct Name: Encodable {
        let name: String
    }

    private struct ExchangeDefinition: Encodable {
        let name: String
        let vhost: String
        let type: String
        let durable = true
        let auto_delete = false
        let `internal` = false
        let arguments: [String: String] = [:]
    }

    private struct QueueDefinition: Encodable {
        let name: String
        let vhost: String
        let durable = true
        let auto_delete = false
        let arguments: [String: Argument]
    }

    private struct BindingDefinition: Encodable {
        let source: String
        let vhost: String
        let destination: String
        let destination_type = "queue"
        let routing_key: String
        let arguments: [String: String] = [:]
    }

    /// The topology in RabbitMQ's definitions format, as `load_definitions` reads it.
    ///
    /// Users and their rights are ``BrokerUser``'s matter.
    public func definitions(vhost: String) throws -> Data {
        let definitions = Definitions(
            vhosts: [Name(name: vhost)],
            exchanges: exchanges.map { ExchangeDefinition(name: $0.name, vhost: vhost, type: $0.kind.rawValue) },
            queues: queues.map { QueueDefinition(name: $0.name, vhost: vhost, arguments: $0.arguments) },
            bindings: bindings.map {
                BindingDefinition(source: $0.exchange, vhost: vhost, destination: $0.queue, routing_key: $0.routingKey)
            })
        return try definitionsEncoder.encode(definitions) + Data("\n".utf8)
    }
}

extension Topology.Argument: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        }
    }
}
