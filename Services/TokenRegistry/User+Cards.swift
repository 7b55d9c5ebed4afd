import Shared

extension User {
    /// Why a start was granted or not.
    enum StartVerdict: Sendable, Equatable {
        case granted
        /// A card that the app had started is the session's now.
        case adopted
        case denied(String)
    }

    /// Grants a start once for each device, kind, session and generation, and notes that before anybody acts on it.
    ///
    /// It grants one anew only if nobody knows whether APNs took it, no token has come of it in time, and the user has
    /// done something since (docs/decisions/0008).
    ///
    /// - Parameter request: Names the question: asked again under the same name, it gets the same answer.
    mutating func grantStart(_ start: RegistryStart, request: String, id: String, at now: Timestamp) -> StartVerdict {
        let ofKind = cards.indices.filter {
            cards[$0].deviceID == start.deviceID && cards[$0].attributesType == start.attributesType
        }
        let ofSession = ofKind.map { cards[$0] }.filter { $0.sessionID == start.sessionID }
        if ofSession.contains(where: { $0.state == .dismissed }) {
            return .denied("the user swiped this session's card away")
        }
        if let newest = ofSession.max(by: { $1.isNewer(than: $0) }), newest.generation >= start.generation {
            return grantAgain(start, newest, request: request, at: now)
        }
        let own = ofKind.filter {
            cards[$0].state == .live && cards[$0].sessionID == nil && mayStillRun(cards[$0], now)
        }
        // A session with a card of its own has no use for one of the app's.
        if !ofSession.contains(where: { $0.state == .live }),
            let index = own.max(by: { cards[$1].isNewer(than: cards[$0]) })
        {
            cards[index].sessionID = start.sessionID
            cards[index].generation = start.generation
            return .adopted
        }
        guard
            startTokens.contains(where: { $0.deviceID == start.deviceID && $0.attributesType == start.attributesType })
        else { return .denied("the device has no start token of this kind") }
        cards.append(
            Card(
                id: id, deviceID: start.deviceID, attributesType: start.attributesType, sessionID: start.sessionID,
                generation: start.generation, state: .starting, startRequest: request,
                startTimestamp: start.timestamp, registeredAt: now, startedAt: now, changedAt: now))
        return .granted
    }

    /// Decides on a start of a card that was granted before.
    private mutating func grantAgain(
        _ start: RegistryStart, _ card: Card, request: String, at now: Timestamp
    ) -> StartVerdict {
        guard card.state == .starting, let index = cards.firstIndex(where: { $0.id == card.id }) else {
            return .denied("this card was started before and is \(card.state.rawValue)")
        }
        guard card.startRequest == request || mayBeRepeated(card, for: start, at: now) else {
            return .denied("this card was started before and its token is waited for")
        }
        if card.startRequest != request { cards[index].isStartRepeated = true }
        cards[index].startRequest = request
        cards[index].startTimestamp = start.timestamp
        cards[index].isDoubted = false
        // The grace begins anew with each leave; the card may have come of the first one all the same.
        (cards[index].registeredAt, cards[index].changedAt) = (now, now)
        return .granted
    }

    /// Whether the start may have been lost on its way, and the user has made a newer state since.
    private func mayBeRepeated(_ card: Card, for start: RegistryStart, at now: Timestamp) -> Bool {
        guard !card.isStartAccepted, start.isFromUser == true, start.generation == card.generation,
            now.millisecondsSince1970 - card.registeredAt.millisecondsSince1970 >= Card.tokenGrace,
            startTokens.contains(where: { $0.deviceID == card.deviceID && $0.attributesType == card.attributesType })
        else { return false }
        return start.timestamp.map { $0 > card.startTimestamp ?? 0 } ?? false
    }

    /// APNs took the start; that says nothing about the phone.
    ///
    /// Of several that were granted one after the other, the word of any may be the first to come.
    mutating func acceptStart(_ start: RegistryStart) {
        guard let index = startingCard(of: start),
            cards[index].isStartRepeated || start.grant == cards[index].startRequest
        else { return }
        cards[index].isStartAccepted = true
    }

    private func startingCard(of start: RegistryStart) -> Int? {
        cards.firstIndex {
            $0.state == .starting && $0.deviceID == start.deviceID && $0.attributesType == start.attributesType
                && $0.sessionID == start.sessionID && $0.generation == start.generation
        }
    }

    /// APNs gave a definite no: there is no card, and a start may be asked for again.
    ///
    /// A copy of the news that comes after the next grant leaves that alone, and so does news of the later one of two
    /// starts: what became of the first is as unknown as before. States that came while the fence was up were
    /// held back by it, so the agent is told, if there is hope: the start may be tried again, or with another token.
    mutating func refuseStart(_ start: RegistryStart) {
        guard let index = startingCard(of: start), !cards[index].isStartRepeated,
            start.grant == nil || start.grant == cards[index].startRequest
        else { return }
        let card = cards.remove(at: index)
        let isHopeful = startTokens.contains { token in
            token.deviceID == card.deviceID && token.attributesType == card.attributesType
                && (start.mayRetry == true || start.token.map { $0 != token.token } ?? false)
        }
        guard isHopeful else { return }
        reachableAgain.append(
            IslandReachable(
                userID: self.id, deviceID: card.deviceID, attributesType: card.attributesType, sessionID: nil))
    }

    /// The user swiped a card away.
    ///
    /// That holds for its session.
    ///
    /// A card that we ended ourselves, or that a newer one of its session has replaced, is reported as dismissed when
    /// the system takes it off the screen: that is no swipe.
    ///
    /// - Parameter session: From the card's attributes, for a card that was never reported before.
    mutating func dismiss(_ activityID: String, on deviceID: String, session: String?, at now: Timestamp) {
        for index in reported(activityID, on: deviceID, session: session) {
            let card = cards[index]
            guard card.isOpen || card.canComeBack else { continue }
            cards[index].activityID = activityID
            if isReplaced(card) {
                cards[index].end(.app, at: now)
            } else {
                cards[index].state = .dismissed
                cards[index].ending = nil
                cards[index].changedAt = now
            }
        }
    }

    /// The app or the system ended a card.
    mutating func end(_ activityID: String, on deviceID: String, session: String?, at now: Timestamp) {
        for index in reported(activityID, on: deviceID, session: session) where cards[index].isOpen {
            cards[index].activityID = activityID
            cards[index].end(.app, at: now)
        }
    }

    /// APNs said at `at` that the token is dead.
    ///
    /// One that was registered after that lives. A card that we ended keeps the token that the end went to: by that a late
    /// report of the card is told from one of a card that missed its end.
    mutating func tokenDied(_ token: String, at: Timestamp, now: Timestamp) {
        startTokens.removeAll { $0.token == token && $0.registeredAt <= at }
        for index in cards.indices
        where cards[index].token == token && cards[index].registeredAt <= at && cards[index].ending != .push {
            cards[index].token = nil
            if cards[index].isOpen { cards[index].end(.deadToken, at: now) }
        }
    }

    /// The token was accepted in this environment.
    mutating func learn(_ environment: APNSEnvironment, of token: String) {
        for index in startTokens.indices where startTokens[index].token == token {
            startTokens[index].environment = environment
        }
        for index in cards.indices where cards[index].token == token { cards[index].environment = environment }
    }

    /// Our end push to the token's card was accepted.
    ///
    /// - Parameter wasUnowned: no session had the card when it was ended. One that took it over in the meantime loses it
    ///   again, and gets one of its own.
    mutating func pushEnded(_ token: String, wasUnowned: Bool = false, at now: Timestamp) {
        for index in cards.indices where cards[index].token == token {
            if cards[index].isOpen { cards[index].end(.push, at: now) }
            guard wasUnowned, cards[index].state == .ended, cards[index].sessionID != nil,
                cards[index].startRequest == nil
            else { continue }
            cards[index].sessionID = nil
            reachableAgain.append(
                IslandReachable(
                    userID: id, deviceID: cards[index].deviceID, attributesType: cards[index].attributesType,
                    sessionID: nil))
        }
    }

    private func mayStillRun(_ card: Card, _ now: Timestamp) -> Bool {
        now.millisecondsSince1970 - card.startedAt.millisecondsSince1970 < Card.longestLife
    }

    private func reported(_ activityID: String, on deviceID: String, session: String?) -> [Int] {
        let known = cards.indices.filter { cards[$0].deviceID == deviceID && cards[$0].activityID == activityID }
        guard known.isEmpty, let session else { return known }
        return cards.indices.filter {
            cards[$0].deviceID == deviceID && cards[$0].state == .starting && cards[$0].sessionID == session
        }
    }

    private func isReplaced(_ card: Card) -> Bool {
        card.sessionID != nil
            && cards.contains {
                $0.deviceID == card.deviceID && $0.attributesType == card.attributesType
                    && $0.sessionID == card.sessionID && $0.isOpen && $0.generation > card.generation
            }
    }
}
