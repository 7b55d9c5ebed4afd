/// A message that came from a queue, to be acknowledged or rejected once it is dealt with.
package struct AMQPDelivery: Sendable {
    package let message: AMQPMessage
    package let exchange: String
    package let routingKey: String
    package let queue: String
    /// Whether the message may have been delivered before, to whomever.
    package let redelivered: Bool
    /// How often a quorum queue has handed the message out before (`x-delivery-count`); 0 on other queues.
    package let deliveryCount: Int
    /// Which opening of a channel the message came on; with `tag`, names this delivery within the process.
    package let epoch: UInt64
    package let tag: UInt64
    let channel: UInt16
    /// `nil` if the broker expects no acknowledgement.
    let inbox: ConsumerInbox?

    /// Tells the broker that the message is dealt with; from any thread, after the effect is durable.
    ///
    /// Ignored if the channel that the message came on is gone: the message comes again. A second verdict is ignored.
    package func acknowledge() { settle(.acknowledge) }

    /// Gives the message up: the queue dead-letters it; from any thread.
    package func reject() { settle(.reject) }

    private func settle(_ verdict: AcknowledgementLedger.Verdict) {
        inbox?.settle(ConsumerInbox.Settlement(channel: channel, epoch: epoch, tag: tag, verdict: verdict))
    }
}
