import Runtime

/// What the pusher counts beside its stage.
struct PusherMetrics: Sendable {
    let latency: Histogram
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        latency = metrics.histogram(
            "isthmus_webhook_to_push_seconds", "From the webhook's arrival until APNs accepted the push.")
        // So that the first of each shows as growth.
        for event in ["start", "update", "end"] {
            for outcome in ["accepted", "token_dead", "refused", "unknown", "not_now"] { _ = pushed(event, outcome) }
        }
    }

    /// Pushes by what came of them.
    func pushed(_ event: String, _ outcome: PushDelivery.Outcome) -> Counter {
        let name =
            switch outcome {
            case .accepted: "accepted"
            case .tokenDead: "token_dead"
            case .refused: "refused"
            case .superseded: "superseded"
            case .unknown: "unknown"
            case .notNow: "not_now"
            }
        return pushed(event, name)
    }

    private func pushed(_ event: String, _ outcome: String) -> Counter {
        metrics.counter(
            "isthmus_pushes_total", "Pushes by event and outcome.", ["event": event, "outcome": outcome])
    }

    /// Devices that nothing was pushed to, by reason.
    func left(_ reason: String) -> Counter {
        metrics.counter(
            "isthmus_pushes_left_total", "Devices that nothing was pushed to, by reason.", ["reason": reason])
    }
}
