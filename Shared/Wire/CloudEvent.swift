import Foundation

/// What crosses a queue: a CloudEvents 1.0 event in structured JSON around `data`.
///
/// `source` and `id` together name the event for ever: a copy is recognised by them. `type` ends in a major version;
/// fields are only ever added to a version, and readers ignore what they do not know.
public struct CloudEvent<Payload: Sendable>: Sendable {
    /// Unique among the events of `source`; the same on every copy and every retry.
    public let id: String
    public let source: String
    public let type: String
    public let time: Timestamp
    /// W3C trace context of the text that caused this.
    public let traceparent: String?
    /// What others have to say of that trace; only where the caller of our HTTP interfaces sent it.
    public let tracestate: String?
    public let data: Payload

    public init(
        id: String, source: String, type: String, time: Timestamp, traceparent: String?, tracestate: String? = nil,
        data: Payload
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.time = time
        self.traceparent = traceparent
        self.tracestate = tracestate
        self.data = data
    }

    private enum CodingKeys: String, CodingKey {
        case specversion, id, source, type, time, datacontenttype, traceparent, tracestate, data
    }

    /// The media type of an encoded event.
    public static var contentType: String { "application/cloudevents+json" }
}

extension CloudEvent: Encodable where Payload: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("1.0", forKey: .specversion)
        try container.encode(id, forKey: .id)
        try container.encode(source, forKey: .source)
        try container.encode(type, forKey: .type)
        try container.encode(time, forKey: .time)
        try container.encode("application/json", forKey: .datacontenttype)
        try container.encodeIfPresent(traceparent, forKey: .traceparent)
        try container.encodeIfPresent(tracestate, forKey: .tracestate)
        try container.encode(data, forKey: .data)
    }

    /// The bytes for the queue.
    public func encoded() throws -> [UInt8] {
        try JSON.encode(self, sortsKeys: false)
    }
}

extension CloudEvent: JSONWritable where Payload: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("specversion", "1.0")
            $0.field("id", id)
            $0.field("source", source)
            $0.field("type", type)
            $0.field("time", time)
            $0.field("datacontenttype", "application/json")
            $0.field("traceparent", traceparent)
            $0.field("tracestate", tracestate)
            $0.field("data", data)
        }
    }

    package func encoded() throws -> [UInt8] { try JSON.encode(self, sortsKeys: false) }
}

/// A payload that names the event types it is carried by.
public protocol WirePayload: Sendable {
    /// Reads `data` of an event of `type`; throws `UnsupportedWireType` for a type that this build does not know.
    static func decode(type: String, from decoder: any Decoder) throws -> Self
}

/// An event type, or a major version of one, that this build does not know: the message is parked, never guessed at.
public struct UnsupportedWireType: Error, Equatable, CustomStringConvertible {
    public let type: String

    public init(type: String) { self.type = type }

    public var description: String { "unsupported event type \(type)" }
}

extension CloudEvent: Decodable where Payload: WirePayload {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let specversion = try container.decode(String.self, forKey: .specversion)
        guard specversion == "1.0" else { throw UnsupportedWireType(type: "CloudEvents \(specversion)") }
        id = try container.decode(String.self, forKey: .id)
        source = try container.decode(String.self, forKey: .source)
        type = try container.decode(String.self, forKey: .type)
        time = try container.decode(Timestamp.self, forKey: .time)
        traceparent = try container.decodeIfPresent(String.self, forKey: .traceparent)
        tracestate = try container.decodeIfPresent(String.self, forKey: .tracestate)
        data = try Payload.decode(type: type, from: try container.superDecoder(forKey: .data))
    }

    /// Reads an event from a queue's bytes.
    ///
    /// - Throws: `UnsupportedWireType`, or a `DecodingError` that names the path and what was expected there.
    public init(decoding bytes: [UInt8]) throws {
        self = try JSON.decode(Self.self, from: bytes)
    }
}

/// A payload that reads itself as `decode(type:from:)` does, with no decoder in between.
package protocol JSONPayload: WirePayload {
    static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> Self
}

extension CloudEvent: JSONReadable where Payload: JSONPayload {
    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        let specversion: String = try json.value("specversion")
        guard specversion == "1.0" else { throw JSONUnusual() }
        id = try json.value("id")
        source = try json.value("source")
        type = try json.value("type")
        time = try json.value("time")
        traceparent = try json.optional("traceparent")
        tracestate = try json.optional("tracestate")
        guard let data = json.find("data") else { throw JSONUnusual() }
        self.data = try Payload.read(type: type, from: data)
    }

    package init(decoding bytes: [UInt8]) throws { self = try JSON.decode(Self.self, from: bytes) }
}
