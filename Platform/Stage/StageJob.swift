package import Shared

/// What a service does with its stage's messages.
package struct StageJob<Event: Sendable>: Sendable {
    package let stage: Stage
    /// How many unsettled messages of one partition may be in hand.
    package let prefetch: UInt16
    /// Reads a message's body into an event and the key whose events keep their order.
    ///
    /// What it throws parks the message.
    package let decode: @Sendable ([UInt8]) throws -> (key: String, event: Event)
    /// Whether an event need not be worked, given those of its key that wait behind it.
    package let isSuperseded: @Sendable (Event, [Event]) -> Bool
    /// Does the work.
    ///
    /// It returns when the effects are durable, and never throws: every failure is a verdict.
    package let handle: @Sendable (StageItem<Event>) async -> Verdict

    package init(
        stage: Stage,
        prefetch: UInt16,
        decode: @escaping @Sendable ([UInt8]) throws -> (key: String, event: Event),
        isSuperseded: @escaping @Sendable (Event, [Event]) -> Bool = { _, _ in false },
        handle: @escaping @Sendable (StageItem<Event>) async -> Verdict
    ) {
        self.stage = stage
        self.prefetch = prefetch
        self.decode = decode
        self.isSuperseded = isSuperseded
        self.handle = handle
    }
}
