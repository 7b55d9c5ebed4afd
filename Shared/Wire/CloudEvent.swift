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
