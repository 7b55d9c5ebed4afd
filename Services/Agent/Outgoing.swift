import AMQP
import Crypto
import Foundation
import Shared

/// A message that must go out because of an event; stored with the state in one transaction, published afterwards.
struct Outgoing: Codable, Sendable, Equatable {
    /// CloudEvent id: the same at every try.
    let id: String
    let type: String
    let exchange: String
    let routingKey: String
    let traceparent: String?
    let time: Timestamp
    /// The encoded CloudEvent, JSON text.
    let body: String

    init<Payload: JSONWritable & Sendable>(
        _ payload: Payload, type: String, id: String, to stage: Stage, key: String, partitions: Int, time: Timestamp,
        traceparent: String?
    ) throws {
        let event = CloudEvent(
            id: id, source: "agent", type: type, time: time, traceparent: traceparent, data: payload)
        self.id = id
        self.type = type
        exchange = stage.exchange
        routingKey = Partition.name(Partition.of(key, among: partitions))
        self.traceparent = traceparent
        self.time = time
        body = String(decoding: try event.encoded(), as: UTF8.self)
    }

    /// The id of effect number `index` of an event: a recomputed effect has the same.
    static func id(_ eventKey: String, _ index: Int) -> String {
        UUIDFromName.make("isthmus.effect", "\(eventKey)/\(index)").uuidString.lowercased()
    }

    var message: AMQPMessage {
        AMQPMessage(
            id: id, type: type, timestamp: time.secondsSince1970, contentType: "application/cloudevents+json",
            headers: traceparent.map { ["traceparent": $0] } ?? [:], body: Array(body.utf8))
    }
}

extension Outgoing: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("id", id)
            $0.field("type", type)
            $0.field("exchange", exchange)
            $0.field("routingKey", routingKey)
            $0.field("traceparent", traceparent)
            $0.field("time", time)
            $0.field("body", body)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        id = try json.value("id")
        type = try json.value("type")
        exchange = try json.value("exchange")
        routingKey = try json.value("routingKey")
        traceparent = try json.optional("traceparent")
        time = try json.value("time")
        body = try json.value("body")
    }
}
