import AMQP
import Shared

/// Carries a command out on the messages that it means.
struct ParkedWork: Sendable {
    let queues: ParkedQueues
    let command: ParkedCommand
    /// Seconds since 1970.
    let now: Int64

    func run() async throws -> ParkedReport {
        var report = ParkedReport(command: command, now: now)
        for queue in ParkedQueue.allCases where command.selection.queue.map({ $0 == queue }) ?? true {
            guard report.entries.count < command.selection.limit else { break }
            let unseen = try await queues.visit(queue) {
                report.entries.count < command.selection.limit
            } isDone: { message in
                let message = ParkedMessage(message, in: queue)
                guard command.selection.includes(message, at: now) else { return false }
                let (entry, isDone) = await work(message)
                report.entries.append(entry)
                return isDone
            }
            if report.entries.count < command.selection.limit { report.unseen += unseen }
        }
        return report
    }

    /// What has become of the message, and whether the queue has no more use for it.
    private func work(_ message: ParkedMessage) async -> (entry: ParkedReport.Entry, isDone: Bool) {
        var entry = ParkedReport.Entry(message: message)
        var isDone = false
        switch command.action {
        case .list, .show: break
        case .drop:
            isDone = !command.isDryRun
            entry.outcome = command.isDryRun ? "would be dropped" : "dropped"
        case .replay:
            guard let route = message.route else {
                entry.outcome = "stays: it has not come from a queue"
                entry.hasFailed = true
                break
            }
            guard !command.isDryRun else {
                entry.outcome = "would go to \(route.exchange), \(route.routingKey)"
                break
            }
            do {
                try await queues.publisher.publish(
                    message.original(replayedAt: now), exchange: route.exchange, routingKey: route.routingKey)
                // It leaves the queue only now: if we end in between, it is there twice, and counts once.
                isDone = true
                entry.outcome = "replayed"
            } catch {
                entry.outcome = "stays: \(error)"
                entry.hasFailed = true
            }
        }
        return (entry, isDone)
    }
}
