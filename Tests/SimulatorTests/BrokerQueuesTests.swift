import Testing

@testable import Simulator

@Suite struct BrokerQueuesTests {
    @Test func `depths are those of all of a stage's queues`() {
        // As RabbitMQ 3.10 writes it.
        let told = """
            # TYPE rabbitmq_detailed_queue_messages_ready gauge
            # HELP rabbitmq_detailed_queue_messages_ready Messages ready to be delivered to consumers
            rabbitmq_detailed_queue_messages_ready{vhost="/",queue="inbound.v1.00"} 3
            rabbitmq_detailed_queue_messages_ready{vhost="/",queue="inbound.v1.07"} 40
            rabbitmq_detailed_queue_messages_ready{vhost="/",queue="parked.v1.inbound"} 2
            rabbitmq_detailed_queue_messages_ready{vhost="/",queue="registry.v1.lookup"} 9
            rabbitmq_detailed_queue_messages_unacked{vhost="/",queue="inbound.v1.07"} 5
            rabbitmq_detailed_queue_messages_unacked{vhost="/",queue="replies.v1.00"} 1
            rabbitmq_detailed_queue_messages{vhost="/",queue="inbound.v1.07"} 45
            """
        #expect(
            BrokerQueues.depths(in: told) == [
                BrokerQueues.Depth(stage: "inbound", waiting: 43, inHand: 5),
                BrokerQueues.Depth(stage: "replies", waiting: 0, inHand: 1), BrokerQueues.Depth(stage: "islands"),
                BrokerQueues.Depth(stage: "parked", waiting: 2),
            ])
    }
}
