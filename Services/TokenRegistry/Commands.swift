import AMQP
import Foundation
import Runtime
import Shared

/// Stores what the pusher has learned.
///
/// Every command may come twice and changes nothing then.
struct Commands: Sendable {
    let store: RegistryStore
    let outbox: Outbox
    let log: Log
    let figures: Figures
    var backoff = Backoff(base: .milliseconds(200), cap: .seconds(10))

    /// Does one command, however long the database is away; returns before it is done only when cancelled.
    func perform(_ delivery: AMQPDelivery) async {
        let command: RegistryCommand
        do {
            command = try CloudEvent<RegistryCommand>(decoding: delivery.message.body).data
        } catch {
            figures.command(delivery.message.type, "unreadable")
            log.error(
                "command refused: it cannot be read",
                ["id": delivery.message.id, "type": delivery.message.type, "error": "\(error)"])
            return delivery.reject()
        }
        var tries = 0
        while true {
            do {
                try await perform(command)
                figures.command(command.type, "done")
                return delivery.acknowledge()
            } catch {
                tries += 1
                figures.command(command.type, "retried")
                log.warning("command not stored yet", ["type": command.type, "error": "\(error)"])
                // Cancelled: what is not acknowledged goes back to the queue.
                guard (try? await Task.sleep(for: backoff.delay(after: tries))) != nil else { return }
            }
        }
    }

    func perform(_ command: RegistryCommand) async throws {
        let (_, committed) = try await store.change(command.userID) { user, now in user.apply(command, at: now) }
        await outbox.follow(committed)
    }
}

extension RegistryCommand {
    var userID: String {
        switch self {
        case .startRefused(let start), .startAccepted(let start): start.userID
        case .tokenDead(let dead): dead.userID
        case .environmentLearned(let learned): learned.userID
        case .activityEnded(let ended): ended.userID
        }
    }
}

extension User {
    mutating func apply(_ command: RegistryCommand, at now: Timestamp) {
        switch command {
        case .startRefused(let start): refuseStart(start)
        case .startAccepted(let start): acceptStart(start)
        case .tokenDead(let dead): tokenDied(dead.token, at: dead.at, now: now)
        case .environmentLearned(let learned): learn(learned.environment, of: learned.token)
        case .activityEnded(let ended): pushEnded(ended.token, wasUnowned: ended.wasUnowned ?? false, at: now)
        }
    }
}
