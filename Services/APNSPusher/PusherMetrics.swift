import Runtime

/// What the pusher counts beside its stage.
struct PusherMetrics: Sendable {
    let latency: Histogram
    private let metrics: Metrics
    /// Nearly all: an accepted update's counter is not looked up by its labels each time.
    private let acceptedUpdates: Counter

    init(_ metrics: Metrics) {
        self.metrics = metrics
        acceptedUpdates = Self.pushed("update", "accepted", metrics)
        latency = metrics.histogram(
            "isthmus_webhook_to_push_seconds", "From the webhook's arrival until APNs accepted the push.")
        // So that the first of each shows as growth.
        for event in ["start", "update", "end"] {
            for outcome in ["accepted", "token_dead", "refused", "unknown", "not_now"] {
                _ = Self.pushed(event, outcome, metrics)
            }
        }
    }

    /// Pushes by what came of them.
    func pushed(_ event: StepWork.Push.Event, _ outcome: PushDelivery.Outcome) -> Counter {
        if case .accepted = outcome, event == .update { return acceptedUpdates }
        let name =
            switch outcome {
            case .accepted: "accepted"
            case .tokenDead: "token_dead"
            case .refused: "refused"
            case .superseded: "superseded"
            case .unknown: "unknown"
            case .notNow: "not_now"
            }
        return Self.pushed(event.rawValue, name, metrics)
    }

    private static func pushed(_ event: String, _ outcome: String, _ metrics: Metrics) -> Counter {
        metrics.counter(
            "isthmus_pushes_total", "Pushes by event and outcome.", ["event": event, "outcome": outcome])
    }

    /// Devices that nothing was pushed to, by reason.
    func left(_ reason: String) -> Counter {
        metrics.counter(
            "isthmus_pushes_left_total", "Devices that nothing was pushed to, by reason.", ["reason": reason])
    }
}
