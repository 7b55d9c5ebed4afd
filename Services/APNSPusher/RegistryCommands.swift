import AMQP
import Foundation
import Runtime
import Shared

/// Tells the registry what was learned from APNs, through a queue that keeps it until the registry has it.
struct RegistryCommands: Sendable {
    let publisher: AMQPPublisher
    let clock: WallClock

    func send(_ command: RegistryCommand) async throws {
        let time = Timestamp(clock.now)
        let event = CloudEvent(
            id: UUID().uuidString.lowercased(), source: "apns-pusher", type: command.type, time: time,
            traceparent: nil, data: command)
        let message = AMQPMessage(
            id: event.id, type: event.type, timestamp: time.secondsSince1970,
            contentType: CloudEvent<RegistryCommand>.contentType, body: try event.encoded())
        try await publisher.publish(
            message, exchange: Topology.registryExchange, routingKey: Topology.commandsRoutingKey)
    }
}
