import Foundation
import Shared

@testable import Simulator
@testable import TokenRegistry

extension World {
    /// Looks at each phone, once everything has come to rest: it shows exactly the newest state of an open session on
    /// exactly one card, or nothing.
    ///
    /// - Parameters:
    ///   - afterText: True if the user has written since everything came to rest: then a start of unknown outcome is no
    ///     excuse any more.
    ///   - afterLaunch: False leaves out phones that only a launch of the app can set right.
    func judge(afterText: Bool = false, afterLaunch: Bool) throws {
        for (id, device) in devices.sorted(by: { $0.key < $1.key }) where afterLaunch || !device.needsLaunch {
            guard device.phone.isOnline, afterLaunch || !isLeftToTheApp(id) else { continue }
            let when = (afterText ? "after a text" : "at rest") + (afterLaunch ? ", launched" : "")
            for problem in try verdict(id, device, afterText: afterText) { complain("\(when), \(id): \(problem)") }
        }
    }

    private func verdict(_ id: String, _ device: Device, afterText: Bool) throws -> [String] {
        var live = liveCards(id)
        let desired = agent.desired[Self.user]
        guard let desired, case .show(let card) = desired.desired else {
            let ownSince = desired?.timestamp ?? 0
            // A card of the app's own that no session has taken over stays.
            let surplus = live.filter { $0.sessionID != nil || Int64($0.startedAt.timeIntervalSince1970) <= ownSince }
            return surplus.isEmpty || desired == nil ? [] : ["\(surplus.count) cards although the state has ended"]
        }
        // In a session whose card was swiped away, a card of the app's own is left to the app.
        if isDismissed(desired.sessionID, on: id) { live.removeAll { $0.sessionID == nil } }
        guard live.count <= 1 else { return ["\(live.count) live cards"] }
        guard let shown = live.first else {
            if !afterText, awaitsText(id, desired) { return [] }
            return mayShowNothing(id, device, desired) ? [] : ["no card although \(desired.label) should be there"]
        }
        let wanted = try IslandKind.named(Self.kind).check(Array(card.contentState.utf8))
        guard shown.contentState != wanted else { return [] }
        return ["it shows \(String(decoding: shown.contentState, as: UTF8.self)) instead of \(card.contentState)"]
    }

    /// Whether a card came up after another one of its session had been swiped away: nothing is pushed to it, the app
    /// ends it when it is launched.
    private func isLeftToTheApp(_ id: String) -> Bool {
        liveCards(id).contains { card in card.sessionID.map { isDismissed($0, on: id) } ?? false }
    }

    private func isDismissed(_ session: String, on id: String) -> Bool {
        let cards = registry.users[Self.user]?.cards ?? []
        return cards.contains { $0.deviceID == id && $0.sessionID == session && $0.state == .dismissed }
    }

    /// Whether nobody knows what became of the start: the next text brings another one.
    private func awaitsText(_ id: String, _ desired: DesiredIsland) -> Bool {
        let cards = registry.users[Self.user]?.cards ?? []
        return cards.contains {
            $0.deviceID == id && $0.sessionID == desired.sessionID && $0.state == .starting && !$0.isStartAccepted
        }
    }

    /// Whether the session's card has gone for a reason of the phone's, or its start was lost after APNs had taken it.
    private func mayShowNothing(_ id: String, _ device: Device, _ desired: DesiredIsland) -> Bool {
        if lostStarts.contains(Self.key(id, desired.sessionID, desired.generation)) { return true }
        if device.goneSessions.contains(desired.sessionID) { return true }
        let cards = registry.users[Self.user]?.cards ?? []
        return cards.contains { card in
            card.deviceID == id && card.sessionID == desired.sessionID
                && card.activityID.map(device.gone.contains) ?? false
        }
    }
}
