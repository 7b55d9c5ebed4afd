import Foundation
import Shared

extension VirtualPhone {
    /// APNs has a push for this phone.
    ///
    /// One that is offline gets it later, or never.
    mutating func receive(_ push: Push, at now: Date) -> [PhoneAction] {
        guard isOnline else {
            if push.expiration == Date(timeIntervalSince1970: 0) {
                drop(push, "-", "the phone is offline and apns-expiration is 0: one attempt, not stored", at: now)
            } else {
                if let older = stored {
                    drop(
                        older, "-", "the phone is offline and APNs stores one notification an app: a later one came",
                        at: now)
                }
                store(push)
                hear(push, .kept)
            }
            return []
        }
        let payload: PushPayload
        do { payload = try PushPayload(decoding: push.body) } catch {
            drop(push, "-", "the body is not a Live Activity push: \(explain(error))", at: now)
            return []
        }
        guard let event = payload.aps.event else {
            drop(push, "-", "aps has no event", at: now)
            return []
        }
        do {
            let actions: [PhoneAction]
            let purpose = purpose(of: push.token)
            switch (purpose, event) {
            case (.start, "start"): actions = try start(payload.aps, push.body, at: now)
            case (.update(let id), "update"): actions = try update(id, payload.aps, push.body, at: now)
            case (.update(let id), "end"): actions = try end(id, payload.aps, push.body, at: now)
            case (.start, _): throw Dropped("a push-to-start token takes the event start, not \(event)")
            case (.update, _): throw Dropped("an update token takes the events update and end, not \(event)")
            case (nil, _): throw Dropped("the token is no longer this phone's")
            }
            hear(push, .applied(event: event, contentState: card(of: purpose)?.contentState))
            return say(actions)
        } catch let dropped as Dropped {
            drop(push, event, dropped.reason, at: now)
        } catch {
            drop(push, event, explain(error), at: now)
        }
        return []
    }

    /// The card that a push with a token for `purpose` has just made or changed; `nil` if it is gone by now.
    private func card(of purpose: Purpose?) -> Card? {
        if case .update(let id) = purpose { cards.first { $0.activityID == id } } else { cards.last }
    }

    private struct Dropped: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private mutating func start(_ aps: PushPayload.APS, _ body: [UInt8], at now: Date) throws -> [PhoneAction] {
        let timestamp = try checkedTimestamp(aps, at: now)
        guard aps.alert?.title != nil, aps.alert?.body != nil else {
            throw Dropped("a start needs an alert with title and body")
        }
        guard let type = aps.attributesType else { throw Dropped("a start needs attributes-type") }
        guard let kind = kind(named: type) else {
            throw Dropped("the app has no ActivityAttributes type named \(type)")
        }
        if aps.inputPushChannel != nil, system == .iOS17 {
            throw Dropped("iOS 17 starts no activity with input-push-channel")
        }
        guard let attributes = JSONSlice.value(at: ["aps", "attributes"], in: body) else {
            throw Dropped("a start needs attributes")
        }
        let decodedAttributes = try decoded("attributes") { try kind.checkAttributes(attributes) }
        let received = try contentState(body)
        let state = try decoded("content-state") { try kind.check(received) }
        guard cards.count(where: \.isLive) < Self.mostCards else {
            throw Dropped("the app already has \(Self.mostCards) live activities")
        }
        guard spendStart(at: now) else { throw Dropped("push-to-start budget exceeded") }
        add(
            Card(
                activityID: freshActivityID(), attributesType: type, attributes: decodedAttributes,
                sessionID: sessionID(in: decodedAttributes), startedAt: now, contentState: state, timestamp: timestamp,
                appliedAt: now, staleDate: date(aps.staleDate), relevanceScore: aps.relevanceScore ?? 0, phase: .active,
                token: nil))
        // The system wakes the app, which is given the update token. An app that the user has quit is not woken.
        guard app != .forceQuit else { return pass(at: now) }
        return renewToken(ofCardAt: cards.count - 1) + endOlderCards(at: now) + pass(at: now)
    }

    /// The app keeps the newest card of a session and ends the rest: each start that APNs takes makes another one.
    private mutating func endOlderCards(at now: Date) -> [PhoneAction] {
        guard let newest = cards.last, let session = newest.sessionID else { return [] }
        return cards.indices.dropLast().filter {
            cards[$0].isLive && cards[$0].sessionID == session && cards[$0].attributesType == newest.attributesType
        }.flatMap { end($0, removal: now) }
    }

    private mutating func update(
        _ activityID: String, _ aps: PushPayload.APS, _ body: [UInt8], at now: Date
    ) throws -> [PhoneAction] {
        let (index, kind) = try liveCard(activityID)
        let timestamp = try checkedTimestamp(aps, at: now)
        let received = try contentState(body)
        let state = try decoded("content-state") { try kind.check(received) }
        try checkNewer(timestamp, state, cards[index])
        change(index) { card in
            card.contentState = state
            card.timestamp = timestamp
            card.appliedAt = now
            card.staleDate = date(aps.staleDate)
            card.relevanceScore = aps.relevanceScore ?? card.relevanceScore
            card.phase = .active
        }
        return pass(at: now)
    }

    private mutating func end(
        _ activityID: String, _ aps: PushPayload.APS, _ body: [UInt8], at now: Date
    ) throws -> [PhoneAction] {
        let (index, kind) = try liveCard(activityID)
        let timestamp = try checkedTimestamp(aps, at: now)
        let last = JSONSlice.value(at: ["aps", "content-state"], in: body)
        let state = try decoded("content-state") { try last.map { try kind.check($0) } } ?? cards[index].contentState
        guard timestamp >= cards[index].timestamp else { throw Dropped("the timestamp is older than what is shown") }
        change(index) { card in
            card.contentState = state
            card.timestamp = timestamp
            card.appliedAt = now
        }
        let longest = now + Self.lingering
        return end(index, removal: min(date(aps.dismissalDate) ?? longest, longest)) + pass(at: now)
    }

    private func liveCard(_ activityID: String) throws -> (Int, IslandKind) {
        guard let index = cards.firstIndex(where: { $0.activityID == activityID }),
            let kind = kind(named: cards[index].attributesType)
        else { throw Dropped("there is no such activity") }
        guard cards[index].isLive else { throw Dropped("the activity has ended") }
        return (index, kind)
    }

    private func checkedTimestamp(_ aps: PushPayload.APS, at now: Date) throws -> Int64 {
        guard let timestamp = aps.timestamp else { throw Dropped("aps has no timestamp") }
        guard Double(timestamp) <= now.timeIntervalSince1970 + Self.furthestAhead else {
            throw Dropped("the timestamp is more than eight hours ahead (it counts seconds)")
        }
        return timestamp
    }

    /// Two states with one timestamp have no order; the same push again does no harm.
    private func checkNewer(_ timestamp: Int64, _ state: [UInt8], _ card: Card) throws {
        if timestamp < card.timestamp { throw Dropped("the timestamp is older than what is shown") }
        if timestamp == card.timestamp, state != card.contentState {
            throw Dropped("another state with this timestamp is shown already")
        }
    }

    private func contentState(_ body: [UInt8]) throws -> [UInt8] {
        guard let state = JSONSlice.value(at: ["aps", "content-state"], in: body) else {
            throw Dropped("aps has no content-state")
        }
        return state
    }

    private func decoded<Value>(_ what: String, _ decode: () throws -> Value) throws -> Value {
        do { return try decode() } catch { throw Dropped("unable to decode \(what): \(explain(error))") }
    }

}

private func date(_ seconds: Int64?) -> Date? { seconds.map { Date(timeIntervalSince1970: Double($0)) } }

/// The session that a card belongs to, as its attributes tell it.
func sessionID(in attributes: [UInt8]) -> String? {
    struct Session: Decodable { let sessionID: String? }
    // Attributes that the Swift type has read are JSON; one without a session has none to tell.
    return (try? JSONDecoder().decode(Session.self, from: Data(attributes)))?.sessionID
}

/// A decoding error as one sentence with the path; others in their own words.
func explain(_ error: any Error) -> String {
    func path(_ context: DecodingError.Context) -> String {
        let keys = context.codingPath.map(\.stringValue)
        return keys.isEmpty ? "" : keys.joined(separator: ".") + ": "
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context): return "\(path(context))no value for \"\(key.stringValue)\""
    case DecodingError.typeMismatch(let type, let context): return "\(path(context))expected \(type)"
    case DecodingError.valueNotFound(let type, let context): return "\(path(context))null where \(type) is expected"
    case DecodingError.dataCorrupted(let context): return "\(path(context))\(context.debugDescription)"
    default: return "\(error)"
    }
}
