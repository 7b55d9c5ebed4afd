import Runtime
import Shared

/// What the registry counts.
struct Figures: Sendable {
    private let metrics: Metrics

    init(_ metrics: Metrics) { self.metrics = metrics }

    func lookup(_ record: RegistryRecord) {
        metrics.counter(
            "isthmus_registry_lookups_total", "Answered look-ups, by whether the handle is registered.",
            ["known": record.userID == nil ? "no" : "yes"]
        ).increment()
    }

    var failedQuestions: Counter {
        metrics.counter("isthmus_registry_questions_failed_total", "Questions over the broker that got no answer.")
    }

    func start(_ verdict: User.StartVerdict) {
        let result =
            switch verdict {
            case .granted: "granted"
            case .adopted: "adopted"
            case .denied: "denied"
            }
        metrics.counter("isthmus_registry_starts_total", "Starts asked for, by verdict.", ["verdict": result])
            .increment()
    }

    /// - Parameter type: Of a known command, or whatever a foreign message said: then it is not made a label.
    func command(_ type: String, _ result: String) {
        metrics.counter(
            "isthmus_registry_commands_total", "Commands of the pusher, by type and result.",
            ["type": result == "unreadable" ? "other" : type, "result": result]
        ).increment()
    }

    func call(_ name: String, _ status: Int) {
        metrics.counter(
            "isthmus_registry_calls_total", "Calls of the HTTP interface, by call and status.",
            ["call": name, "status": "\(status)"]
        ).increment()
    }

    func authentication(_ result: String) {
        metrics.counter(
            "isthmus_registry_credentials_total", "Credentials shown, by kind or reason of refusal.", ["result": result]
        ).increment()
    }
}
