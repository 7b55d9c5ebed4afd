import Crypto
import Foundation
import Runtime
import Shared

/// What becomes of a user's state, and what must go out, because of one event.
///
/// It reads and writes nothing: the same event, state and answers of the agent give the same outcome.
struct Turn: Sendable {
    let agent: AnyAgent
    let rules: SessionRules
    /// How long a state may be trusted without a newer one, unless the agent says otherwise.
    let staleAfter: Duration
    let partitions: Int
    /// Whether the first reply to a text marks it as read.
    var marksRead = false

    /// How long an ended card stays on the Lock Screen.
    static let lingering = Duration.seconds(15 * 60)
    /// How long after a session's end a card that comes late is still told that it has ended: the life of a card.
    static let afterlife = Duration.seconds(12 * 3600)
    /// A reply that could not be sent for so long is no answer any more.
    static let replyLife = Duration.seconds(15 * 60)

    struct Outcome: Sendable {
        var state: UserState
        /// Nothing is kept under the handle any more: the state has moved or is to be forgotten.
        var isGone = false
        /// A state that had to make way; it is kept for the record.
        var replaced: UserState?
        var outgoing: [Outgoing] = []
        /// Why the agent's state was refused, if it was.
        var refusal: ContentStateError?
        /// Why a state was not sent to any Island, if one was not.
        var withoutIsland: WithoutIsland?
    }

    /// Whom no island is attempted for.
    enum WithoutIsland: String, Sendable {
        case unknownUser = "unknown_user"
        case notIMessage = "not_imessage"
        case group
    }

    /// The agent threw: its own fault, not the event's and not the queue's.
    struct AgentFailed: Error, CustomStringConvertible {
        let underlying: any Error

        var description: String { "the agent failed: \(underlying)" }

        var isPassing: Bool { (underlying as? any PassingFailure)?.isPassing ?? false }
    }

    /// Whether an event opens a session where none is open, and counts as activity where one is.
    enum Opening {
        case always
        /// The backend's events: only if the agent has something to show for one.
        ///
        /// A delivery that leaves may start a card; a sync in the night need not light a phone up.
        case ifShown
        case never
    }

    /// One event on its way through the turn.
    struct Input: Sendable {
        let event: CloudEvent<InboundEvent>
        /// What identifies the event: everything that it causes is named after it.
        let eventKey: String
        let record: RegistryRecord
        let now: Timestamp
    }

    func take(_ input: Input, _ stored: UserState) async throws -> Outcome {
        switch input.event.data.content {
        case .identityChanged(let change):
            return try Identity.change(
                stored, as: change, for: input.record, eventKey: input.eventKey, partitions: partitions, at: input.now,
                traceparent: input.event.traceparent)
        case .stateMoved(let moved): return try adopt(moved, input, stored)
        default: break
        }
        let (state, replaced) = Identity.settle(stored, for: input.record)
        var outcome = try await take(input, current: state)
        outcome.replaced = outcome.replaced ?? replaced
        return outcome
    }

    private func take(_ input: Input, current state: UserState) async throws -> Outcome {
        switch input.event.data.content {
        case .message(let message):
            var state = state
            // What no text has asked for goes to the user alone, never to a group that they happened to write in.
            if !message.chat.isGroup {
                state.lastChat = message.chat
                state.lastSender = message.sender
            }
            let isTalk = !message.isReconciled && !message.chat.isGroup
            return try await respond(
                to: .message(message), input, state, opensSession: isTalk ? .always : .never,
                byIMessage: message.service == .iMessage,
                repliesIn: message.isReconciled ? nil : message.chat, receivedAt: message.receivedAt)
        case .reaction(let reaction):
            return try await respond(
                to: .reaction(reaction), input, state, opensSession: .never, repliesIn: reaction.chat,
                receivedAt: reaction.receivedAt)
        case .edit(let edit):
            return try await respond(
                to: .edit(edit), input, state, opensSession: .never, repliesIn: edit.chat, receivedAt: edit.receivedAt)
        case .custom(let custom):
            return try await respond(
                to: .custom(custom), input, state, opensSession: .ifShown, repliesIn: state.lastChat,
                receivedAt: custom.receivedAt)
        case .sessionDue(let due): return try await sessionDue(due, input, state)
        case .islandReachable(let reachable): return try showAgain(reachable, input, state)
        // Work what has waited, or were dealt with above, and are nothing to the agent itself.
        case .laneDue, .identityChanged, .stateMoved: return Outcome(state: state)
        }
    }

    private func adopt(_ moved: StateMoved, _ input: Input, _ stored: UserState) throws -> Outcome {
        var outcome = try Identity.adopt(moved, beside: stored, for: input.record)
        // The user may have become known in the middle of a session: now there are Islands to show it on.
        if !outcome.isGone, outcome.state != stored, isInAfterlife(outcome.state, at: input.now) {
            try publishAgain(input, &outcome)
        }
        return outcome
    }

    /// Whether there may be a card of the user's last session on some phone.
    private func isInAfterlife(_ state: UserState, at now: Timestamp) -> Bool {
        guard let session = state.session, !session.isOpen else { return state.session != nil }
        // The end may have been noticed long after its time.
        let noticed = Timestamp(millisecondsSince1970: (state.island?.dismissalDate ?? 0) * 1000)
        return now < max(rules.idleEnd(session), noticed) + Self.afterlife
    }

    private func respond(
        to event: AgentEvent, _ input: Input, _ before: UserState, opensSession: Opening, byIMessage: Bool? = nil,
        repliesIn chat: Chat?, receivedAt: Timestamp
    ) async throws -> Outcome {
        var state = before
        var (session, isNew) = rules.session(state.session, at: input.now, eventKey: input.eventKey)
        if let byIMessage { session.isByIMessage = byIMessage }
        if opensSession == .always { state.session = session }
        let answer = try await ask(event, input, state, session, isNew: isNew && opensSession != .never)
        if opensSession == .ifShown, case .show = answer.response.island { state.session = session }
        state.model = answer.model.map { String(decoding: $0, as: UTF8.self) } ?? state.model
        var outcome = Outcome(state: state, refusal: answer.refusal)
        if let chat {
            outcome.outgoing = try replies(
                answer.response.replies, in: chat, input, state, receivedAt,
                marksRead: marksRead && ChatHints.marksRead(input.event.data.content))
        }
        // A group's text is not a session with the user, and an old card is not brought back by a reaction.
        guard state.session?.isOpen == true, !(chat?.isGroup ?? false) else {
            if chat?.isGroup == true { outcome.withoutIsland = .group }
            return outcome
        }
        try move(answer.response.island, input, &outcome, receivedAt)
        if state.session?.id != before.session?.id { try takeOver(answer.response.island, input, &outcome) }
        return outcome
    }

    /// A session that begins before the one before it was ended shows what that has shown, and on every phone.
    private func takeOver(_ island: AgentIsland<[UInt8]>, _ input: Input, _ outcome: inout Outcome) throws {
        guard case .unchanged = island, let shown = outcome.state.island, shown.dismissalDate == nil else { return }
        outcome.state.island?.staleDate = (input.now + staleAfter).secondsSince1970
        try publishAgain(input, &outcome)
    }

    private func ask(
        _ event: AgentEvent, _ input: Input, _ state: UserState, _ session: UserState.Session, isNew: Bool
    ) async throws -> AnyAgent.Outcome {
        let context = AgentContext(
            eventID: input.event.id,
            now: input.now.date,
            user: AgentUser(
                handle: input.event.data.sender ?? state.lastSender ?? state.handle, id: input.record.userID,
                timeZone: input.record.timeZone.flatMap(TimeZone.init(identifier:)),
                locale: input.record.locale.map(Locale.init(identifier:))),
            session: AgentSession(id: session.id, isNew: isNew, startedAt: session.startedAt.date),
            contentState: state.island.map { Array($0.contentState.utf8) })
        do {
            return try await agent.respond(to: event, model: state.model.map { Array($0.utf8) }, context: context)
        } catch {
            throw AgentFailed(underlying: error)
        }
    }

    /// The replies as Linq takes them: a link is a message of its own, and a long text is several.
    private func replies(
        _ replies: [AgentReply], in chat: Chat, _ input: Input, _ state: UserState, _ receivedAt: Timestamp,
        marksRead: Bool = false
    ) throws -> [Outgoing] {
        let messages = replies.flatMap { reply in reply.messages.map { (reply, $0) } }
        return try messages.enumerated().map { index, message in
            let (reply, parts) = message
            let id = Outgoing.id(input.eventKey, index)
            let request = ReplyRequest(
                chat: chat, to: input.event.data.sender ?? state.lastSender ?? state.handle, idempotencyKey: id,
                parts: parts, replyTo: reply.replyTo, effect: parts.contains { $0.type == "link" } ? nil : reply.effect,
                receivedAt: receivedAt, expiresAt: input.now + Self.replyLife,
                marksRead: marksRead && index == 0 ? true : nil)
            return try Outgoing(
                request, type: ReplyRequest.type, id: id, to: .replies, key: chat.id, partitions: partitions,
                time: input.now, traceparent: input.event.traceparent)
        }
    }

    private func move(
        _ island: AgentIsland<[UInt8]>, _ input: Input, _ outcome: inout Outcome, _ receivedAt: Timestamp?
    ) throws {
        switch island {
        case .unchanged: return
        case .show(let contentState, let alert, let priority, let staleAfter):
            if outcome.state.island?.dismissalDate != nil {
                // A card that was ended does not come back: the session goes on with another one.
                outcome.state.session?.cardGeneration += 1
                outcome.state.session?.cardStartedAt = input.now
            }
            let timestamp = nextTimestamp(&outcome.state, input.now)
            outcome.state.island = UserState.Island(
                attributesType: agent.kind.attributesType, contentState: String(decoding: contentState, as: UTF8.self),
                timestamp: timestamp, staleDate: (input.now + (staleAfter ?? self.staleAfter)).secondsSince1970)
            try publishIsland(input, &outcome, alert: alert, priority: priority.rawValue, receivedAt)
        case .end(let contentState):
            try end(contentState, input, &outcome, receivedAt)
        }
    }

    private func end(
        _ contentState: [UInt8]?, _ input: Input, _ outcome: inout Outcome, _ receivedAt: Timestamp?
    ) throws {
        guard var island = outcome.state.island else { return }
        if let contentState { island.contentState = String(decoding: contentState, as: UTF8.self) }
        island.timestamp = nextTimestamp(&outcome.state, input.now)
        island.dismissalDate = (input.now + Self.lingering).secondsSince1970
        outcome.state.island = island
        try publishIsland(input, &outcome, alert: nil, priority: AgentPriority.now.rawValue, receivedAt)
    }

    /// The session has been silent for too long, or its card nears the end of its life.
    private func sessionDue(_ due: SessionDue, _ input: Input, _ before: UserState) async throws -> Outcome {
        var outcome = Outcome(state: before)
        // A text that came meanwhile has moved the moment: this event is void then.
        guard var session = before.session, session.id == due.sessionID, rules.dueAt(session) == due.dueAt else {
            return outcome
        }
        guard due.dueAt >= rules.idleEnd(session) else {
            session.cardGeneration += 1
            session.cardStartedAt = input.now
            outcome.state.session = session
            guard var island = before.island, island.dismissalDate == nil else { return outcome }
            island.timestamp = nextTimestamp(&outcome.state, input.now)
            outcome.state.island = island
            try publishIsland(input, &outcome, alert: nil, priority: AgentPriority.now.rawValue, nil)
            return outcome
        }
        let answer = try await ask(.sessionEnding, input, before, session, isNew: false)
        session.isOpen = false
        outcome.state.session = session
        outcome.state.model = answer.model.map { String(decoding: $0, as: UTF8.self) } ?? before.model
        outcome.refusal = answer.refusal
        if let chat = before.lastChat {
            outcome.outgoing = try replies(answer.response.replies, in: chat, input, before, input.now)
        }
        switch answer.response.island {
        case .show(let state, _, _, _), .end(let state?): try end(state, input, &outcome, nil)
        case .end(nil), .unchanged: try end(nil, input, &outcome, nil)
        }
        return outcome
    }

    /// A token came in: the state that should be on the Island goes out once more.
    private func showAgain(_ reachable: IslandReachable, _ input: Input, _ state: UserState) throws -> Outcome {
        var outcome = Outcome(state: state)
        guard state.island?.attributesType == reachable.attributesType, isInAfterlife(state, at: input.now) else {
            return outcome
        }
        try publishAgain(input, &outcome, on: reachable.deviceID)
        return outcome
    }

    /// Publishes the same state under a new timestamp: a card that the app has started meanwhile drops what is older
    /// than itself, and so may a phone what comes long after its time.
    ///
    /// An end keeps its timestamp, which tells the cards that it was meant for from later ones.
    ///
    /// - Parameter device: The one that a token came in for; the others show the state already, and pushes have a budget.
    private func publishAgain(_ input: Input, _ outcome: inout Outcome, on device: String? = nil) throws {
        if var island = outcome.state.island, island.dismissalDate == nil {
            // Later than what the app has shown within this second.
            island.timestamp = nextTimestamp(&outcome.state, input.now + .seconds(1))
            outcome.state.island = island
        }
        try publishIsland(
            input, &outcome, alert: nil, priority: AgentPriority.now.rawValue, nil, on: device)
    }

    private func publishIsland(
        _ input: Input, _ outcome: inout Outcome, alert: DesiredIsland.Alert?, priority: Int, _ receivedAt: Timestamp?,
        on device: String? = nil
    ) throws {
        guard let session = outcome.state.session, let island = outcome.state.island else { return }
        guard session.isByIMessage else {
            outcome.withoutIsland = .notIMessage
            return
        }
        guard let userID = input.record.userID else {
            outcome.withoutIsland = .unknownUser
            return
        }
        let desired: DesiredIsland.Desired =
            if let dismissalDate = island.dismissalDate {
                .end(DesiredIsland.Ending(contentState: island.contentState, dismissalDate: dismissalDate))
            } else {
                .show(
                    DesiredIsland.Card(
                        contentState: island.contentState, staleDate: island.staleDate, alert: alert,
                        relevanceScore: Self.relevance(session)))
            }
        let message = DesiredIsland(
            handle: outcome.state.handle, userID: userID, attributesType: island.attributesType, sessionID: session.id,
            sessionStartedAt: session.startedAt, generation: session.cardGeneration, timestamp: island.timestamp,
            desired: desired, priority: priority, receivedAt: receivedAt, deviceID: device)
        outcome.outgoing.append(
            try Outgoing(
                message, type: DesiredIsland.type, id: Outgoing.id(input.eventKey, outcome.outgoing.count),
                to: .islands, key: outcome.state.handle, partitions: partitions, time: input.now,
                traceparent: input.event.traceparent))
    }

    /// The card with the highest score gets the Island, and of equal ones the oldest: while a renewal goes on there are
    /// two, and the newer one is to be seen.
    private static func relevance(_ session: UserState.Session) -> Double? {
        session.cardGeneration == 0 ? nil : Double(session.cardGeneration)
    }

    /// `aps.timestamp` of the next state: seconds, and never the same or less than the one before.
    private func nextTimestamp(_ state: inout UserState, _ now: Timestamp) -> Int64 {
        let type = agent.kind.attributesType
        let timestamp = max(now.secondsSince1970, (state.lastTimestamps[type] ?? 0) + 1)
        state.lastTimestamps[type] = timestamp
        return timestamp
    }
}

extension InboundEvent {
    /// Whom it comes from; `nil` for what no person did.
    fileprivate var sender: String? {
        switch content {
        case .message(let message): message.sender
        case .reaction(let reaction): reaction.sender
        case .edit(let edit): edit.sender
        case .custom, .sessionDue, .islandReachable, .identityChanged, .stateMoved, .laneDue: nil
        }
    }
}
