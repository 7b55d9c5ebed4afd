#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Foundation
    import RegistrationCore
    import Shared

    /// A kind of card that the app shows, with its Swift type behind it.
    public struct ObservedKind: Sendable {
        /// All cards of this kind that ActivityKit knows, also those that are over and still on the Lock Screen.
        let activities: @Sendable () -> [RunningActivity: ActivityPhase]
        /// Follows the streams until it is cancelled.
        let observe: @Sendable (RegistrationClient) async -> Void
        /// Reads the properties: a stream may keep silent about what it gave an earlier launch.
        let look: @Sendable (RegistrationClient) async -> Void
        /// Ends those of these cards that are of this kind.
        let end: @Sendable ([String]) async -> Void

        public init<Attributes: IslandAttributes & ActivityAttributes>(_ type: Attributes.Type) {
            let observer = ActivityObserver<Attributes>()
            activities = { observer.activities() }
            observe = { await observer.observe($0) }
            look = { await observer.look($0) }
            end = { await observer.end($0) }
        }
    }

    /// The thin layer over ActivityKit: it takes what that says to the client, and decides nothing.
    ///
    /// An `Activity` is not passed on from task to task, because it may not be `Sendable`; its id is, and each task looks the
    /// activity up.
    private struct ActivityObserver<Attributes: IslandAttributes & ActivityAttributes>: Sendable {
        /// Cards to follow, by what `look` and the stream have found; more than once is no harm.
        private let found: AsyncStream<RunningActivity>
        private let find: AsyncStream<RunningActivity>.Continuation

        init() { (found, find) = AsyncStream.makeStream() }

        func activities() -> [RunningActivity: ActivityPhase] {
            var all: [RunningActivity: ActivityPhase] = [:]
            for activity in Activity<Attributes>.activities {
                all[Self.card(activity)] = Self.phase(activity.activityState)
            }
            return all
        }

        func look(_ client: RegistrationClient) async {
            if let token = Activity<Attributes>.pushToStartToken {
                await client.startToken(token, of: Attributes.attributesType)
            }
            let tokens = Activity<Attributes>.activities.map { (Self.card($0), $0.pushToken) }
            for (card, token) in tokens {
                find.yield(card)
                await client.found(card)
                if let token { await client.token(token, of: card.id) }
            }
        }

        func observe(_ client: RegistrationClient) async {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await token in Activity<Attributes>.pushToStartTokenUpdates {
                        await client.startToken(token, of: Attributes.attributesType)
                    }
                }
                group.addTask {
                    // What comes here while the app runs has just been started.
                    for await activity in Activity<Attributes>.activityUpdates {
                        find.yield(Self.card(activity, startedAt: Date()))
                    }
                }
                var followed: Set<String> = []
                for await card in found where followed.insert(card.id).inserted {
                    await client.found(card)
                    group.addTask { await follow(card.id, client) }
                }
            }
        }

        func end(_ activityIDs: [String]) async {
            for activity in Activity<Attributes>.activities where activityIDs.contains(activity.id) {
                await activity.end(nil, dismissalPolicy: .immediate)
            }
        }

        /// Until the card is gone from the screen.
        private func follow(_ activityID: String, _ client: RegistrationClient) async {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    guard let activity = Self.activity(activityID) else { return }
                    if let token = activity.pushToken { await client.token(token, of: activityID) }
                    for await token in activity.pushTokenUpdates { await client.token(token, of: activityID) }
                }
                await followState(activityID, client)
                group.cancelAll()
            }
        }

        private func followState(_ activityID: String, _ client: RegistrationClient) async {
            guard let activity = Self.activity(activityID) else { return }
            await client.changed(activityID, to: Self.phase(activity.activityState))
            for await state in activity.activityStateUpdates {
                await client.changed(activityID, to: Self.phase(state))
                if Self.phase(state) == .dismissed { return }
            }
        }

        private static func activity(_ id: String) -> Activity<Attributes>? {
            Activity<Attributes>.activities.first { $0.id == id }
        }

        private static func card(_ activity: Activity<Attributes>, startedAt: Date? = nil) -> RunningActivity {
            RunningActivity(
                id: activity.id, attributesType: Attributes.attributesType,
                sessionID: activity.attributes.sessionID, startedAt: startedAt)
        }

        private static func phase(_ state: ActivityState) -> ActivityPhase {
            switch state {
            case .ended: .ended
            case .dismissed: .dismissed
            // Active, stale, or planned for later (iOS 26): it is there, or will be.
            default: .active
            }
        }
    }
#endif
