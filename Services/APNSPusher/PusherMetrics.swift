import Runtime

/// What the pusher counts beside its stage.
struct PusherMetrics: Sendable {
    let latency: Histogram
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        latency = metrics.histogram(
            "isthmus_webhook_to_push_seconds", "From the webhook's arrival until APNs accepted the push.")
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
        return metrics.counter(
            "isthmus_pushes_total", "Pushes by event and outcome.", ["event": event, "outcome": name])
    }

    /// Devices that nothing was pushed to, by reason.
    func left(_ reason: String) -> Counter {
        metrics.counter(
            "isthmus_pushes_left_total", "Devices that nothing was pushed to, by reason.", ["reason": reason])
    }
}
