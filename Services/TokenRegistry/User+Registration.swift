import Shared

/// A push-to-start token as the app reports it.
struct StartTokenRegistration: Sendable, Equatable {
    let deviceID: String
    let attributesType: String
    let token: String
    let environment: APNSEnvironment?
    let bundleID: String?
    let wantsInputPushToken: Bool?
    /// An IANA name, such as "America/New_York".
    var timeZone: String?
    /// Such as "en_US".
    var locale: String?
}

/// A running card and its update token as the app reports them.
struct ActivityRegistration: Sendable, Equatable {
    let deviceID: String
    let activityID: String
    let attributesType: String
    let token: String
    let sessionID: String?
    let environment: APNSEnvironment?
    let bundleID: String?
    let startedAt: Timestamp?
}

extension User {
    /// Stores the token as the one of its device and kind.
    ///
    /// What is left out keeps what was learned of the same token.
    mutating func register(_ new: StartTokenRegistration, at now: Timestamp) {
        startTokens.removeAll { $0.token == new.token && $0.deviceID != new.deviceID }
        let index = startTokens.firstIndex {
            $0.deviceID == new.deviceID && $0.attributesType == new.attributesType
        }
        let old = index.map { startTokens[$0] }
        let isKnown = old?.token == new.token
        let token = StartToken(
            deviceID: new.deviceID, attributesType: new.attributesType, token: new.token,
            environment: new.environment ?? (isKnown ? old?.environment : nil),
            bundleID: new.bundleID ?? old?.bundleID,
            wantsInputPushToken: new.wantsInputPushToken ?? old?.wantsInputPushToken ?? false, registeredAt: now,
            timeZone: new.timeZone ?? old?.timeZone, locale: new.locale ?? old?.locale)
        if let index { startTokens[index] = token } else { startTokens.append(token) }
        if old != nil, !isKnown { doubtCards(new.attributesType, on: new.deviceID, at: now) }
        makeRoom(beside: new.deviceID)
    }

    /// Joins a reported card to what is known: itself, or the start that was granted for its session, or nothing yet.
    mutating func register(_ new: ActivityRegistration, id: String, at now: Timestamp) {
        if let index = cards.firstIndex(where: { $0.deviceID == new.deviceID && $0.activityID == new.activityID }) {
            // A card with a new token did not get the end that went to the old one.
            let missedEnd = cards[index].ending == .push && cards[index].token != new.token
            guard cards[index].isOpen || cards[index].canComeBack || missedEnd else { return }
            fill(index, with: new, at: now)
        } else if let index = startedCard(for: new) {
            fill(index, with: new, at: now)
            putInOrder(index)
        } else {
            append(new, id: id, at: now)
        }
        makeRoom(beside: new.deviceID)
    }

    /// Gives up a token that was registered elsewhere.
    mutating func lose(token: String, at now: Timestamp) {
        startTokens.removeAll { $0.token == token }
        for index in cards.indices where cards[index].token == token { loseToken(ofCardAt: index, at: now) }
    }

    /// The newest granted start of the reported card's session that no card has been reported for, and that was granted
    /// before the card came up: the report of an earlier one may be late.
    private func startedCard(for new: ActivityRegistration) -> Int? {
        guard let sessionID = new.sessionID else { return nil }
        let starts = cards.indices.filter {
            cards[$0].state == .starting && cards[$0].sessionID == sessionID && isOfKind(cards[$0], as: new)
        }.sorted { cards[$0].generation < cards[$1].generation }
        // A phone whose clock is behind ours by more than the push took has a card too early for any of them.
        return starts.last { index in new.startedAt.map { cards[index].startedAt <= $0 } ?? true } ?? starts.last
    }

    /// Of two cards of a session the one that came up later counts as the newer start's, whichever start it was taken for.
    ///
    /// A phone that was away may get two starts at once, and the first of them makes its card when the second has been
    /// granted already. The app goes by the order in which they came up, and ends the older one.
    private mutating func putInOrder(_ index: Int) {
        let card = cards[index]
        let older = cards.indices.filter { other in
            cards[other].state == .live && cards[other].deviceID == card.deviceID
                && cards[other].attributesType == card.attributesType && cards[other].sessionID == card.sessionID
                && cards[other].generation > card.generation && cards[other].startedAt <= card.startedAt
        }
        guard let newest = older.max(by: { cards[$0].generation < cards[$1].generation }) else { return }
        (cards[index].generation, cards[newest].generation) = (cards[newest].generation, card.generation)
    }

    private mutating func fill(_ index: Int, with new: ActivityRegistration, at now: Timestamp) {
        takeTokenFromOthers(new.token, except: cards[index].id, at: now)
        if cards[index].token != new.token { cards[index].environment = nil }
        cards[index].activityID = new.activityID
        cards[index].token = new.token
        cards[index].sessionID = new.sessionID ?? cards[index].sessionID
        cards[index].environment = new.environment ?? cards[index].environment
        cards[index].bundleID = new.bundleID ?? cards[index].bundleID
        cards[index].startedAt = new.startedAt ?? cards[index].startedAt
        cards[index].registeredAt = now
        cards[index].goLive(at: now)
    }

    /// A card that nobody asked for: the app started it, or it is one too many of its session.
    private mutating func append(_ new: ActivityRegistration, id: String, at now: Timestamp) {
        takeTokenFromOthers(new.token, except: id, at: now)
        var card = Card(
            id: id, deviceID: new.deviceID, attributesType: new.attributesType, sessionID: new.sessionID,
            generation: 0, state: .live, activityID: new.activityID, token: new.token, environment: new.environment,
            bundleID: new.bundleID, registeredAt: now, startedAt: new.startedAt ?? now, changedAt: now)
        let others = cards.indices.filter {
            card.sessionID != nil && cards[$0].sessionID == card.sessionID && isOfKind(cards[$0], as: new)
        }
        card.generation = others.map { cards[$0].generation }.max() ?? 0
        if others.contains(where: { cards[$0].state == .dismissed }) { card.end(.sessionDismissed, at: now) }
        for index in others where card.isOpen && cards[index].state == .live {
            if cards[index].isNewer(than: card) {
                card.end(.duplicate, at: now)
            } else if cards[index].generation == card.generation {
                cards[index].end(.duplicate, at: now)
            }
        }
        cards.append(card)
    }

    private mutating func takeTokenFromOthers(_ token: String, except id: String, at now: Timestamp) {
        for index in cards.indices where cards[index].token == token && cards[index].id != id {
            loseToken(ofCardAt: index, at: now)
        }
    }

    private mutating func loseToken(ofCardAt index: Int, at now: Timestamp) {
        cards[index].token = nil
        if cards[index].isOpen { cards[index].end(.moved, at: now) }
    }

    private func isOfKind(_ card: Card, as new: ActivityRegistration) -> Bool {
        card.deviceID == new.deviceID && card.attributesType == new.attributesType
    }
}
