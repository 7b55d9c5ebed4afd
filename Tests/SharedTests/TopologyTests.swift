import Foundation
import Shared
import Testing

struct TopologyTests {
    private let topology = Topology(partitions: 16)

    @Test func `the definitions in infra are what islandctl prints`() throws {
        let file = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../infra/rabbitmq/definitions.json").standardizedFileURL
        #expect(try Data(contentsOf: file) == topology.definitions(vhost: "/"))
    }

    @Test func `the permissions in infra are what islandctl prints`() throws {
        let file = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../infra/rabbitmq/permissions.json").standardizedFileURL
        #expect(try Data(contentsOf: file) == BrokerUser.permissions(vhost: "/"))
    }

    @Test func `every binding joins an exchange and a queue that are there`() {
        let exchanges = Set(topology.exchanges.map(\.name))
        let queues = Set(topology.queues.map(\.name))
        for binding in topology.bindings {
            #expect(exchanges.contains(binding.exchange), "\(binding.exchange)")
            #expect(queues.contains(binding.queue), "\(binding.queue)")
        }
        #expect(queues.count == topology.queues.count && exchanges.count == topology.exchanges.count)
        #expect(Set(topology.bindings.map(\.queue)) == queues)
    }

    @Test func `ordered queues keep their order and lose nothing`() {
        for stage in Stage.allCases {
            for partition in 0..<16 {
                let queue = topology.queues.first { $0.name == stage.queue(partition) }
                #expect(queue?.arguments["x-queue-type"] == .text("quorum"))
                #expect(queue?.arguments["x-single-active-consumer"] == .flag(true))
                #expect(queue?.arguments["x-delivery-limit"] == .integer(100))
                #expect(queue?.arguments["x-overflow"] == .text("reject-publish"))
                #expect(queue?.arguments["x-dead-letter-strategy"] == .text("at-least-once"))
            }
        }
        // A message that waits in a queue with a time limit would be overtaken.
        let limited = topology.queues.filter { $0.arguments["x-message-ttl"] != nil }
        #expect(limited.map(\.name) == [Topology.lookupQueue])
    }

    @Test func `names bear a version and the partition's number`() {
        #expect(Stage.inbound.exchange == "inbound.v1")
        #expect(Stage.replies.queue(3) == "replies.v1.03")
        #expect(Stage.islands.queue(112) == "islands.v1.112")
        #expect(Stage.inbound.parkedQueue == "parked.v1.inbound")
    }
}
