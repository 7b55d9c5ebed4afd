import Runtime
import Shared
import Stage

/// Forgets events so old that no copy of them can come any more.
struct InboxPruning: Sendable {
    /// Longer than Linq tries (30 minutes), than a person waits before replaying a parked message, and than the broker
    /// keeps a backlog.
    static let age = Duration.seconds(30 * 86400)
    private static let interval = Duration.seconds(3600)

    let store: AgentStore
    let clock: WallClock
    let log: Log

    func run(until stop: StopSignal) async {
        repeat {
            do {
                let limit = Timestamp(
                    millisecondsSince1970: Timestamp(clock.now).millisecondsSince1970 - Self.age.milliseconds)
                _ = try await store.prune(before: limit)
            } catch {
                log.warning("inbox not pruned", ["error": "\(error)"])
            }
        } while await stop.sleep(for: Self.interval)
    }
}
