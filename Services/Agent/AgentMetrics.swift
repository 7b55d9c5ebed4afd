import Runtime

/// What the agent counts beside its stage.
struct AgentMetrics: Sendable {
    let duplicates: Counter
    let passedOn: Counter
    let refused: Counter
    let retried: Counter
    let deferred: Counter
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        duplicates = metrics.counter(
            "isthmus_stage_duplicate_total", "Messages that were found to have been worked before.",
            ["stage": "inbound"])
        passedOn = metrics.counter(
            "isthmus_agent_passed_on_total", "Events passed on to the partition of the user's canonical handle.")
        refused = metrics.counter(
            "isthmus_agent_states_refused_total", "Content states that a phone would have dropped.")
        retried = metrics.counter(
            "isthmus_stage_retried_total", "Tries of a message after the first.", ["stage": "inbound"])
        deferred = metrics.counter(
            "isthmus_agent_deferred_total", "Events that were put into the database because the agent is away.")
    }

    /// How many users' events wait in the database, over all replicas.
    static func deferredLanes(_ metrics: Metrics) -> Gauge {
        metrics.gauge("isthmus_agent_deferred_lanes", "Users whose events wait in the database for the agent.")
    }

    /// States that were sent to no Island.
    func withoutIsland(_ reason: String) -> Counter {
        metrics.counter(
            "isthmus_agent_without_island_total", "States for which no Island was attempted.", ["reason": reason])
    }
}
