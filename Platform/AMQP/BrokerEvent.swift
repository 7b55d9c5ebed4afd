/// Something the broker said, copied out of librabbitmq's memory.
enum BrokerEvent {
    case acknowledged(tag: UInt64, multiple: Bool)
    case refused(tag: UInt64, multiple: Bool)
    /// A mandatory message that no queue takes.
    case returned(Content)
    case delivered(Content)
    /// The broker ended the consumer of a channel: its queue is gone.
    case cancelled(channel: UInt16)
    case channelClosed(channel: UInt16, AMQPError)
    case blocked(String)
    case unblocked

    /// A message with how it came.
    struct Content {
        let channel: UInt16
        let exchange: String
        let routingKey: String
        var tag: UInt64 = 0
        var redelivered = false
        var deliveryCount = 0
        var message = AMQPMessage(id: "", body: [])
    }
}
