/// A message with the properties that cross the broker.
package struct AMQPMessage: Sendable, Equatable {
    /// The largest body that is sent; the broker's own limit (`max_message_size`) is set to the same.
    package static let maxBody = 2 << 20
    private static let maxHeaders = 32 << 10

    /// `message_id`; must not be empty when published.
    package var id: String
    package var type: String
    /// Seconds since 1970; 0 when the sender gave none.
    package var timestamp: Int64
    package var contentType: String
    /// Header values that are not text arrive as text if they are numbers or booleans, and not at all otherwise.
    package var headers: [String: String]
    package var replyTo: String?
    package var correlationID: String?
    /// How long a queue keeps the message.
    package var expiration: Duration?
    package var persistent: Bool
    package var body: [UInt8]

    package init(
        id: String, type: String = "", timestamp: Int64 = 0, contentType: String = "application/json",
        headers: [String: String] = [:], replyTo: String? = nil, correlationID: String? = nil,
        expiration: Duration? = nil, persistent: Bool = true, body: [UInt8]
    ) {
        self.id = id
        self.type = type
        self.timestamp = timestamp
        self.contentType = contentType
        self.headers = headers
        self.replyTo = replyTo
        self.correlationID = correlationID
        self.expiration = expiration
        self.persistent = persistent
        self.body = body
    }

    /// Why the message cannot be sent, or `nil` if it can.
    ///
    /// Looked at before anything is written: half a message on the wire costs the connection. AMQP 0-9-1 4.2.5.3 limits
    /// short strings to 255 bytes, 4.2.5.5 field names to 128.
    package func objection(exchange: String, routingKey: String) -> String? {
        guard !id.isEmpty else { return "it has no id" }
        let short = [id, type, contentType, replyTo ?? "", correlationID ?? "", exchange, routingKey]
        guard short.allSatisfy({ $0.utf8.count <= 255 }) else { return "a property is longer than 255 bytes" }
        guard headers.keys.allSatisfy({ (1...128).contains($0.utf8.count) }) else {
            return "a header's name is too long"
        }
        let size = headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }
        guard size <= Self.maxHeaders else { return "its headers have \(size) bytes, \(Self.maxHeaders) are allowed" }
        guard body.count <= Self.maxBody else { return "its body has \(body.count) bytes, \(Self.maxBody) are allowed" }
        if let expiration, expiration < .zero { return "its expiration is negative" }
        return nil
    }
}
