import Foundation

/// The cards of this launch, and what has to be told of them: each thing once, and no token that is none.
struct ActivityLedger: Sendable {
    private struct Entry: Sendable {
        let activity: RunningActivity
        var token: String?
        var isOver = false
    }

    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    /// Tokens that were reported in this launch.
    private var startTokens: [String: String] = [:]
    /// Cards that the app ends because it was told to: their going is not the user's doing.
    private var endedByApp: Set<String> = []

    /// The cards that run, in the order in which they were found.
    var running: [RunningActivity] {
        order.compactMap { id in entries[id].flatMap { $0.isOver ? nil : $0.activity } }
    }

    /// The app was launched or has come to the front: everything is told again, also what has not changed.
    ///
    /// - Parameter activities: All that ActivityKit knows; cards that it does not name are forgotten.
    /// - Returns: What to tell of cards that were over when the app looked.
    mutating func refresh(_ activities: [RunningActivity: ActivityPhase]) -> [Report] {
        let ids = Set(activities.keys.map(\.id))
        order.removeAll { !ids.contains($0) }
        entries = entries.filter { ids.contains($0.key) }
        endedByApp.formIntersection(ids)
        for id in entries.keys { entries[id]?.token = nil }
        startTokens = [:]
        for activity in activities.keys { found(activity) }
        return activities.compactMap { changed($0.key.id, to: $0.value) }
    }

    /// ActivityKit shows a card.
    mutating func found(_ activity: RunningActivity) {
        guard entries[activity.id] == nil else { return }
        entries[activity.id] = Entry(activity: activity)
        order.append(activity.id)
    }

    mutating func startToken(_ token: Data, of attributesType: String) -> Report? {
        guard let token = Self.hexadecimal(token), startTokens[attributesType] != token else { return nil }
        startTokens[attributesType] = token
        return .startToken(attributesType: attributesType, token: token)
    }

    /// A card was given a token.
    ///
    /// With another card of its kind on the screen the registry is asked, too, which of them is to stay.
    mutating func token(_ token: Data, of activityID: String) -> [Report] {
        guard let token = Self.hexadecimal(token), let entry = entries[activityID], !entry.isOver, entry.token != token
        else { return [] }
        entries[activityID]?.token = token
        let report = Report.activity(entry.activity, token: token)
        let hasRival = running.contains {
            $0.id != activityID && $0.attributesType == entry.activity.attributesType
        }
        return hasRival ? [report, .running(running.map(\.id))] : [report]
    }

    mutating func changed(_ activityID: String, to phase: ActivityPhase) -> Report? {
        guard phase != .active, let entry = entries[activityID], !entry.isOver else { return nil }
        entries[activityID]?.isOver = true
        let isSwipe = phase == .dismissed && !endedByApp.contains(activityID)
        return .gone(entry.activity, isSwipe ? .dismissed : .ended)
    }

    /// The app is about to end these.
    mutating func willEnd(_ activityIDs: [String]) { endedByApp.formUnion(activityIDs) }

    /// An empty token is none: it must never take the place of a good one.
    private static func hexadecimal(_ token: Data) -> String? {
        guard !token.isEmpty else { return nil }
        return token.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
