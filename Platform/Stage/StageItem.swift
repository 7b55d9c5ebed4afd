package import AMQP

/// A message of a stage on its way through the handler.
package struct StageItem<Event: Sendable>: Sendable {
    package let event: Event
    package let delivery: AMQPDelivery
    package let partition: Int
    /// Fires when the partition is to be given up: a handler that waits between tries ends with `.handBack`.
    package let stop: StopSignal
    /// Whether a newer event that waits behind this one has made it void meanwhile.
    package let isSuperseded: @Sendable () -> Bool
}
