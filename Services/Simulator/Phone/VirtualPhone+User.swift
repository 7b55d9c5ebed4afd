import Foundation
import Shared

extension VirtualPhone {
    /// The app was installed and opened for the first time: it registers its push-to-start tokens.
    mutating func onboard() -> [PhoneAction] { say(renewStartTokens(.unregistered)) }

    /// The user swipes a card away; the app, if it runs, tells the registry.
    mutating func dismiss(_ activityID: String) -> [PhoneAction] {
        guard let card = cards.first(where: { $0.activityID == activityID }) else { return [] }
        var actions = remove(activityID)
        if app != .forceQuit, card.isLive {
            actions.append(.removeActivity(activityID: activityID, reason: .dismissed))
        }
        return say(actions)
    }

    /// The user opens the app: its Island collapses.
    ///
    /// It tells the registry the tokens of its cards again, one of which may have been given up meanwhile; a launch tells
    /// all that the app knows.
    mutating func open() -> [PhoneAction] {
        let wasQuit = app == .forceQuit
        setApp(.foreground)
        guard wasQuit else {
            let known = cards.filter { $0.isLive && $0.token != nil }
            return say(known.map { .registerActivity(activityID: $0.activityID) } + [reconciliation])
        }
        var actions: [PhoneAction] = startTokens.sorted { $0.key < $1.key }.map {
            .registerStartToken(attributesType: $0.key, token: $0.value)
        }
        for index in cards.indices where cards[index].isLive {
            if cards[index].token == nil {
                actions += renewToken(ofCardAt: index)
            } else {
                actions.append(.registerActivity(activityID: cards[index].activityID))
            }
        }
        return say(actions + [reconciliation])
    }

    /// The user goes back to Messages.
    mutating func leave() -> [PhoneAction] {
        if app == .foreground { setApp(.background) }
        return []
    }

    /// The user quits the app in the app switcher.
    ///
    /// Its cards stay; nothing wakes it for new ones.
    mutating func forceQuit() -> [PhoneAction] {
        setApp(.forceQuit)
        return []
    }

    mutating func goOffline() -> [PhoneAction] { setOnline(false) }

    /// The phone is back: the app says what it could not say, and APNs delivers the one push that it kept.
    mutating func goOnline(at now: Date) -> [PhoneAction] {
        guard !isOnline else { return [] }
        var actions = setOnline(true)
        if let push = stored {
            store(nil)
            if let expiration = push.expiration, expiration < now {
                drop(push, "-", "expired at APNs while the phone was offline", at: now)
            } else {
                actions += receive(push, at: now)
            }
        }
        return actions + pass(at: now)
    }

    /// Another iOS is installed; the app registers again, since what it may ask of a push depends on it.
    mutating func install(_ system: System) -> [PhoneAction] {
        self.system = system
        return say(
            startTokens.sorted { $0.key < $1.key }.map { .registerStartToken(attributesType: $0.key, token: $0.value) })
    }

    /// The app is deleted and installed again: cards and tokens are gone, new tokens come.
    mutating func reinstall() -> [PhoneAction] {
        var actions: [PhoneAction] = []
        for card in cards {
            actions += remove(card.activityID).map { action in
                if case .died(let token, _) = action { .died(token: token, reason: .unregistered) } else { action }
            }
        }
        setApp(.background)
        return say(actions + renewStartTokens(.unregistered) + [reconciliation])
    }

    /// ActivityKit changes the tokens, as it may at any time.
    mutating func rotateTokens() -> [PhoneAction] {
        var actions = renewStartTokens(.expired)
        guard app != .forceQuit else {
            // Who has quit the app hears nothing of it until it is launched.
            return actions.filter { if case .registerStartToken = $0 { false } else { true } }
        }
        for index in cards.indices where cards[index].isLive { actions += renewToken(ofCardAt: index) }
        return say(actions)
    }

    /// The app starts an activity of its own.
    ///
    /// It has to be in the foreground for that.
    mutating func startFromApp(_ kind: IslandKind, state: [UInt8], at now: Date) throws -> [PhoneAction] {
        let attributes = try kind.attributes(userID: userID, sessionID: nil)
        let decodedState = try kind.check(state)
        setApp(.foreground)
        add(
            Card(
                activityID: freshActivityID(), attributesType: kind.attributesType, attributes: attributes,
                sessionID: nil, startedAt: now, contentState: decodedState,
                timestamp: Int64(now.timeIntervalSince1970), appliedAt: now, staleDate: nil, relevanceScore: 0,
                phase: .active, token: nil))
        return say(renewToken(ofCardAt: cards.count - 1))
    }

    /// The registry told the app to end these: superseded cards, and those of sessions that are over.
    mutating func endFromApp(_ activityIDs: [String], at now: Date) -> [PhoneAction] {
        var actions: [PhoneAction] = []
        for id in activityIDs {
            guard let index = cards.firstIndex(where: { $0.activityID == id }), cards[index].isLive else { continue }
            actions += end(index, removal: now)
        }
        return say(actions) + pass(at: now)
    }

    private var reconciliation: PhoneAction { .reconcile(running: cards.filter(\.isLive).map(\.activityID)) }
}
