import Runtime
import Shared

/// What every stage counts.
struct StageMetrics: Sendable {
    let taken: Counter
    let done: Counter
    let parked: Counter
    let handedBack: Counter
    let superseded: Counter
    /// Counted by who works the messages.
    let retried, duplicate: Counter
    let inHand = InHand()
    let partitions: Gauge

    init(_ stage: Stage, _ metrics: Metrics) {
        let labels = ["stage": stage.rawValue]
        taken = metrics.counter("isthmus_stage_taken_total", "Messages that were taken from the queue.", labels)
        done = metrics.counter("isthmus_stage_done_total", "Messages that were worked and acknowledged.", labels)
        parked = metrics.counter("isthmus_stage_parked_total", "Messages that were parked.", labels)
        handedBack = metrics.counter(
            "isthmus_stage_handed_back_total", "Messages that went back to the queue unworked.", labels)
        superseded = metrics.counter(
            "isthmus_stage_superseded_total", "Messages that a newer one had made void.", labels)
        retried = metrics.counter("isthmus_stage_retried_total", "Tries of a message after the first.", labels)
        duplicate = metrics.counter(
            "isthmus_stage_duplicate_total", "Messages that were found to have been worked before.", labels)
        partitions = metrics.gauge("isthmus_stage_partitions", "Partitions that this replica works.", labels)
        let inHand = inHand
        metrics.gauge("isthmus_stage_in_flight", "Messages taken and not settled yet.", labels) {
            Double(inHand.count)
        }
        metrics.gauge(
            "isthmus_stage_oldest_age_seconds", "Since the oldest message taken and not settled was published.", labels
        ) { Double(inHand.oldestAge(at: WallClock.system.seconds)) }
    }
}
