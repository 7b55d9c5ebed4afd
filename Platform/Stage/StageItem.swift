package import AMQP
import Runtime

/// A message of a stage on its way through the handler.
package struct StageItem<Event: Sendable>: Sendable {
    package let event: Event
    package let delivery: AMQPDelivery
    package let partition: Int
    /// Fires when the partition is to be given up: a handler that waits between tries ends with `.handBack`.
    package let stop: StopSignal
    /// When it was taken from the queue; `nil` if nobody records it.
    var takenAt: SpanTime?
    /// Whether a newer event that waits behind this one has made it void meanwhile.
    package let isSuperseded: @Sendable () -> Bool
}

extension StageItem {
    /// How long the partition may rest when the event cannot be worked: `base`, and twice as long each time it comes
    /// again.
    ///
    /// The broker takes a message out of the queue after its delivery limit; with growing rests that is hours away.
    package func rest(from base: Duration, upTo longest: Duration) -> Duration {
        min(longest, base * (1 << min(delivery.deliveryCount, 16)))
    }
}
