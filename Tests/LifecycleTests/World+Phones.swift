import Foundation
import Shared

@testable import Simulator
@testable import TokenRegistry

/// A phone with its app, and what the app has yet to say to the registry.
struct Device {
    enum Call {
        case startToken(StartTokenRegistration)
        case activity(ActivityRegistration)
        case remove(activityID: String, reason: RemovalReason)
        case reconcile(running: [String])
    }

    var phone: VirtualPhone
    let environment: APNSEnvironment
    /// Whether the app tells the registry which environment its tokens are of.
    let tellsEnvironment: Bool
    var calls: [Call] = []
    /// Something was lost that only the app can say again.
    var needsLaunch = false
    /// Activities that are gone for a reason of the phone's own: swiped away, too old, deleted with the app.
    var gone: Set<String> = []
    var dismissed: Set<String> = []
    /// Sessions that had a card of such an activity.
    var goneSessions: Set<String> = []
    /// When its push-to-start tokens last changed.
    var tokensChangedAt: Timestamp?
    /// The starts that its cards came of, by activity.
    var starts: [String: String] = [:]
    /// Those whose card was swiped away after the registry knew that there was one: when it had come up, and when it went.
    var swipedStarts: [String: (cameUp: Timestamp, at: Timestamp)] = [:]
}

extension World {
    func addPhone(
        _ id: String, system: VirtualPhone.System = .iOS18, environment: APNSEnvironment = .production,
        tellsEnvironment: Bool = true
    ) {
        note("phone \(id), iOS \(system.rawValue), \(environment)")
        devices[id] = Device(
            phone: VirtualPhone(deviceID: id, userID: Self.user, system: system, attributesTypes: [Self.kind]),
            environment: environment, tellsEnvironment: tellsEnvironment)
        onPhone(id) { phone, _ in phone.onboard() }
    }

    func liveCards(_ id: String) -> [Simulator.Card] { devices[id]?.phone.cards.filter(\.isLive) ?? [] }

    /// Lets something happen on a phone and does what it wants done.
    func onPhone(_ id: String, _ event: (inout VirtualPhone, Date) throws -> [PhoneAction]) rethrows {
        guard var device = devices[id] else { return }
        let before = device.phone
        let actions = try event(&device.phone, now.date)
        for action in actions {
            switch action {
            case .issued(let token):
                apns.issue(token, to: id, device.environment)
                if device.phone.startTokens.values.contains(token) { device.tokensChangedAt = now }
            case .died(let token, let reason): apns.kill(token, reason, at: now)
            default: if let call = call(for: action, device) { device.calls.append(call) }
            }
        }
        devices[id] = device
        observe(id, before)
    }

    private func call(for action: PhoneAction, _ device: Device) -> Device.Call? {
        let environment = device.tellsEnvironment ? device.environment : nil
        switch action {
        case .registerStartToken(let type, let token):
            return .startToken(
                StartTokenRegistration(
                    deviceID: device.phone.deviceID, attributesType: type, token: token, environment: environment,
                    bundleID: "com.example.coach", wantsInputPushToken: device.phone.system == .iOS18))
        case .registerActivity(let activityID):
            guard let card = device.phone.cards.first(where: { $0.activityID == activityID }), let token = card.token
            else { return nil }
            return .activity(
                ActivityRegistration(
                    deviceID: device.phone.deviceID, activityID: activityID, attributesType: card.attributesType,
                    token: token, sessionID: card.sessionID, environment: environment, bundleID: "com.example.coach",
                    startedAt: Timestamp(card.startedAt)))
        case .removeActivity(let activityID, let reason): return .remove(activityID: activityID, reason: reason)
        case .reconcile(let running): return .reconcile(running: running)
        case .issued, .died: return nil
        }
    }

    /// The rules that hold on a phone at any moment.
    private func observe(_ id: String, _ before: VirtualPhone) {
        guard let phone = devices[id]?.phone else { return }
        for card in phone.cards where card.isLive {
            if let old = before.cards.first(where: { $0.activityID == card.activityID }), card.timestamp < old.timestamp
            {
                complain("the timestamp of a card on \(id) fell")
            }
        }
        for drop in phone.dropped.suffix(phone.droppedCount - before.droppedCount) {
            note("\(id) drops \(drop.event): \(drop.reason)")
            if ["unable to decode", "a start needs", "attributes-type", "no timestamp", "eight hours ahead"]
                .contains(where: drop.reason.contains)
            {
                complain("\(id) dropped a push: \(drop.reason)")
            }
            // An update that was sent after the end came before it: the app, told that the card is over, ends it.
            if drop.event == "end", drop.reason.contains("older") { devices[id]?.needsLaunch = true }
            if ["offline", "budget"].contains(where: drop.reason.contains) { devices[id]?.needsLaunch = true }
        }
        for old in before.cards where old.isLive && now.date >= old.startedAt + VirtualPhone.lifetime {
            leave(id, old)
        }
    }

    /// A card has gone by itself or by its user.
    private func leave(_ id: String, _ card: Simulator.Card) {
        devices[id]?.gone.insert(card.activityID)
        if let session = card.sessionID { devices[id]?.goneSessions.insert(session) }
    }

    // MARK: What a person does

    func dismiss(_ id: String, _ activityID: String) {
        guard let card = liveCards(id).first(where: { $0.activityID == activityID }) else { return }
        note("\(id): card \(activityID.prefix(4)) is swiped away")
        leave(id, card)
        devices[id]?.dismissed.insert(activityID)
        if let start = devices[id]?.starts[activityID], isKnown(start, activityID, on: id) {
            devices[id]?.swipedStarts[start] = (Timestamp(card.startedAt), now)
        }
        // With another card of the session beside it, or with the app not running, only the app can clear that up.
        if liveCards(id).count > 1 || devices[id]?.phone.app == .forceQuit { devices[id]?.needsLaunch = true }
        onPhone(id) { phone, _ in phone.dismiss(activityID) }
    }

    /// Whether the registry knows that there is, or was, a card of this start.
    private func isKnown(_ start: String, _ activityID: String, on id: String) -> Bool {
        knownStarts.contains(start)
            || registry.users[Self.user]?.cards.contains { $0.deviceID == id && $0.activityID == activityID } ?? false
    }

    func reinstall(_ id: String) {
        note("\(id): the app is deleted and installed again")
        for card in devices[id]?.phone.cards ?? [] where !isKnownLongSince(card, on: id) { leave(id, card) }
        happened["an app was installed anew", default: 0] += 1
        onPhone(id) { phone, _ in phone.reinstall() }
    }

    /// Whether the registry has known of the card for so long that another installation is recognised as one.
    private func isKnownLongSince(_ card: Simulator.Card, on id: String) -> Bool {
        let known = registry.users[Self.user]?.cards.filter { known in
            known.deviceID == id && known.isOpen
                && (known.activityID.map { $0 == card.activityID } ?? (known.sessionID == card.sessionID))
        }.max { $0.generation < $1.generation }
        guard let known, devices[id]?.calls.isEmpty ?? false else { return false }
        let age = now.millisecondsSince1970 - known.registeredAt.millisecondsSince1970
        return age > TokenRegistry.Card.vouchedFor
    }

    /// The app is quit and started again: what it could not say, or what got lost, is said now.
    func launch(_ id: String) {
        note("\(id): the app is launched")
        onPhone(id) { phone, now in phone.goOnline(at: now) }
        onPhone(id) { phone, _ in phone.forceQuit() }
        onPhone(id) { phone, _ in phone.open() + phone.leave() }
    }

    // MARK: Deliveries

    /// APNs delivers one of the pushes that it has taken.
    func deliver(_ index: Int) {
        let item = apns.take(index)
        if let expiration = item.push.expiration, expiration < now.date {
            note("APNs gives \(item.push.apnsID) up")
            if let collapseID = item.collapseID { lostStarts.insert("\(item.deviceID) \(collapseID)") }
            devices[item.deviceID]?.needsLaunch = true
            return
        }
        let droppedBefore = devices[item.deviceID]?.phone.droppedCount ?? 0
        note("\(item.deviceID) gets \(item.push.apnsID)")
        onPhone(item.deviceID) { phone, now in phone.receive(item.push, at: now) }
        guard let phone = devices[item.deviceID]?.phone else { return }
        let isDropped = phone.droppedCount > droppedBefore
        if let collapseID = item.collapseID, !isDropped, phone.isOnline { noteStart(item.deviceID, collapseID) }
        // Stored for a phone that is offline: it may be dropped later, or make room for another.
        if let collapseID = item.collapseID, isDropped || !phone.isOnline {
            lostStarts.insert("\(item.deviceID) \(collapseID)")
        }
        if !phone.isOnline { devices[item.deviceID]?.needsLaunch = true }
    }

    private func noteStart(_ id: String, _ collapseID: String) {
        guard let device = devices[id], let card = device.phone.cards.last else { return }
        let start = "\(id) \(collapseID)"
        devices[id]?.starts[card.activityID] = start
        // A start that had its leave before the swipe cannot be called back.
        guard let swipe = device.swipedStarts[start], lastLeaves[start].map({ $0 > swipe.at }) ?? false else { return }
        if device.tokensChangedAt.map({ $0 <= swipe.cameUp }) ?? true {
            complain("a card that was swiped away is back: \(start)")
        }
    }

    // MARK: The app speaks

    /// The app says one thing to the registry, and says it again if it does not hear an answer.
    func stepApp(_ id: String) {
        guard let device = devices[id], device.phone.isOnline, let call = device.calls.first else { return }
        guard !fails(onceIn: 25) else {
            note("\(id): what the app says is lost")
            if case .startToken = call { noteLostToken(id) }
            devices[id]?.calls.removeFirst()
            devices[id]?.needsLaunch = true
            return
        }
        let answerIsLost = fails(onceIn: 10)
        note("\(id) says \(call.label)\(answerIsLost ? ", unanswered" : "")")
        let ended = perform(call, by: id, follows: !answerIsLost)
        guard !answerIsLost else { return }
        devices[id]?.calls.removeFirst()
        if case .remove(let activityID, .dismissed) = call { confirmDismissal(id, activityID) }
        onPhone(id) { phone, now in phone.endFromApp(ended, at: now) }
    }

    /// Of another installation the registry hears too late to recognise it as one.
    private func noteLostToken(_ id: String) {
        let cards = registry.users[Self.user]?.cards ?? []
        devices[id]?.goneSessions.formUnion(cards.filter { $0.deviceID == id }.compactMap(\.sessionID))
    }

    private func perform(_ call: Device.Call, by id: String, follows: Bool) -> [String] {
        let cardID = registry.freshID()
        switch call {
        case .startToken(let token):
            registry.change(Self.user, claiming: .token(token.token), at: now, follows: follows) {
                $0.register(token, at: $1)
            }
        case .activity(let card):
            registry.change(Self.user, claiming: .token(card.token), at: now, follows: follows) {
                $0.register(card, id: cardID, at: $1)
            }
        case .remove(let activityID, let reason):
            registry.change(Self.user, at: now, follows: follows) { user, now in
                if reason == .dismissed {
                    user.dismiss(activityID, on: id, session: nil, at: now)
                } else {
                    user.end(activityID, on: id, session: nil, at: now)
                }
            }
        case .reconcile(let running):
            return registry.change(Self.user, at: now, follows: follows) {
                $0.reconcile(running: running, on: id, at: $1)
            }
        }
        return []
    }

    private func confirmDismissal(_ id: String, _ activityID: String) {
        let card = registry.users[Self.user]?.cards.first { $0.deviceID == id && $0.activityID == activityID }
        guard let card, card.state == .dismissed, let session = card.sessionID,
            registry.isCacheTrue(of: Self.phone, at: now)
        else { return }
        confirmedDismissals.insert("\(id) \(session)")
    }
}

extension Device.Call {
    var label: String {
        switch self {
        case .startToken(let token): "start token \(token.token.prefix(6))"
        case .activity(let card):
            "card \(card.activityID.prefix(4)) of \(card.sessionID?.suffix(4) ?? "-"), token \(card.token.prefix(6))"
        case .remove(let activityID, let reason): "card \(activityID.prefix(4)) \(reason)"
        case .reconcile(let running): "running \(running.map { $0.prefix(4) })"
        }
    }
}
