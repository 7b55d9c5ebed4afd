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
            let unseen = try await queues.visit(queue) { delivery in
                let message = ParkedMessage(delivery.message, in: queue)
                if command.selection.includes(message, at: now) {
                    report.entries.append(await work(message, delivery))
                }
                return report.entries.count < command.selection.limit
            }
            if report.entries.count < command.selection.limit { report.unseen += unseen }
        }
        return report
    }

    private func work(_ message: ParkedMessage, _ delivery: AMQPDelivery) async -> ParkedReport.Entry {
        var entry = ParkedReport.Entry(message: message)
        switch command.action {
        case .list, .show: break
        case .drop:
            if !command.isDryRun { delivery.acknowledge() }
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
                // Only now: if we end in between, it is there twice, and counts once.
                delivery.acknowledge()
                entry.outcome = "replayed"
            } catch {
                entry.outcome = "stays: \(error)"
                entry.hasFailed = true
            }
        }
        return entry
    }
}
