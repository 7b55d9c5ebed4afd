import Foundation
import Runtime
import Shared
import Testing

@testable import Agent

@Suite struct `An event's turn` {
    static let start: Int64 = 1_790_000_000_000
    let turn = Turn(
        agent: AnyAgent(CoachAgent()), rules: SessionRules(idle: .seconds(1800)), staleAfter: .seconds(3600),
        partitions: 16)
    let known = RegistryRecord(
        generation: 1, userID: "user-42", canonicalHandle: "+12025559876", devices: [])

    @Test func `the user's day is that of the time zone that their phone has told`() async throws {
        // 14:13 in UTC, and an hour before midnight in Tokyo.
        let tokyo = RegistryRecord(
            generation: 1, userID: "user-42", canonicalHandle: "+12025559876", devices: [], timeZone: "Asia/Tokyo",
            locale: "ja_JP")
        let unknown = RegistryRecord(
            generation: 1, userID: "user-42", canonicalHandle: "+12025559876", devices: [], timeZone: "Mars/Olympus")
        for (record, expected) in [(known, 900), (tokyo, 300), (unknown, 900)] {
            let late = try await take(message("chicken bowl, 600 cal"), nil, at: 0, record: record)
            let early = try await take(message("soup, 300 cal"), late.state, at: 3600, record: record)
            #expect(try contentState(try #require(try islands(early).first))?.calories == expected)
        }
    }

    @Test func `a meal gives one reply and one state`() async throws {
        let outcome = try await take(message("just had a chicken bowl, ~600 cal"), nil, at: 0)
        let reply = try #require(try replies(outcome).first)
        #expect(try replies(outcome).count == 1)
        #expect(reply.to == "+12025559876" && reply.chat.id == "chat-1")
        #expect(reply.expiresAt == at(15 * 60))
        let island = try #require(try islands(outcome).first)
        #expect(try contentState(island)?.calories == 600)
        #expect(island.userID == "user-42" && island.generation == 0 && island.priority == 10)
        #expect(island.timestamp == Self.start / 1000)
        guard case .show(let card) = island.desired else { return #expect(Bool(false), "not shown") }
        #expect(card.staleDate == Self.start / 1000 + 3600)
    }

    @Test func `the same event gives the same ids on every try`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0, id: "same")
        let second = try await take(message("600 kcal"), nil, at: 0, id: "same")
        #expect(first.outgoing.map(\.id) == second.outgoing.map(\.id))
        #expect(Set(first.outgoing.map(\.id)).count == first.outgoing.count)
        #expect(try replies(first).map(\.idempotencyKey) == replies(second).map(\.idempotencyKey))
    }

    @Test func `two states within one second have rising timestamps`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        let second = try await take(message("100 kcal"), first.state, at: 0.2)
        let third = try await take(message("100 kcal"), second.state, at: 0.4)
        let times = try [first, second, third].flatMap { try islands($0).map(\.timestamp) }
        #expect(times == [0, 1, 2].map { Self.start / 1000 + $0 })
    }

    @Test func `a clock that is set back never lowers the timestamp`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 3600)
        let second = try await take(message("100 kcal"), first.state, at: 0)
        #expect(try islands(second)[0].timestamp == islands(first)[0].timestamp + 1)
    }

    @Test func `a session lasts while texts come, and a long silence begins another`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        let second = try await take(message("100 kcal"), first.state, at: 1700)
        #expect(second.state.session?.id == first.state.session?.id)
        let third = try await take(message("100 kcal"), second.state, at: 1700 + 1800)
        #expect(third.state.session?.id != first.state.session?.id)
        #expect(try islands(third)[0].sessionID == third.state.session?.id)
    }

    /// Shows how often it was told to count, and nothing for other texts.
    private struct CountingAgent: IslandAgent {
        typealias Attributes = CoachAttributes

        let initialModel = 0

        func respond(
            to event: AgentEvent, model: inout Int, context: AgentContext
        ) async throws -> AgentResponse<CoachAttributes.ContentState> {
            guard case .message(let message) = event, message.text == "count" else { return AgentResponse() }
            model += 1
            return AgentResponse(island: .show(.init(calories: model, goal: 1, streak: 0, lastMeal: "")))
        }
    }

    @Test func `a session that begins before the last one was ended shows its state, though the text changes nothing`()
        async throws
    {
        let counting = turn(AnyAgent(CountingAgent()))
        let first = try await take(message("count"), nil, at: 0, by: counting)
        let second = try await take(message("thanks"), first.state, at: 1800, by: counting)
        let island = try #require(try islands(second).first)
        #expect(try islands(second).count == 1)
        #expect(island.sessionID == second.state.session?.id && island.sessionID != first.state.session?.id)
        #expect(try contentState(island)?.calories == 1)
        guard case .show(let card) = island.desired else { return #expect(Bool(false), "not shown") }
        #expect(card.staleDate == Self.start / 1000 + 1800 + 3600)
        // Once ended, it is not brought back.
        let ended = try await take(.sessionDue(try due(first.state)), first.state, at: 1800, by: counting)
        #expect(try islands(try await take(message("thanks"), ended.state, at: 1801, by: counting)).isEmpty)
    }

    private func due(_ state: UserState) throws -> SessionDue {
        SessionDue(
            sessionID: try #require(state.session?.id), dueAt: try #require(turn.rules.dueAt(state.session)))
    }

    @Test func `silence ends the session and its card, once`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        #expect(turn.rules.dueAt(first.state.session) == at(1800))
        let ended = try await take(.sessionDue(try due(first.state)), first.state, at: 1800)
        let island = try #require(try islands(ended).first)
        guard case .end(let ending) = island.desired else { return #expect(Bool(false), "not ended") }
        #expect(ending.dismissalDate == Self.start / 1000 + 1800 + 900)
        #expect(ending.contentState?.contains("600") == true)
        #expect(ended.state.session?.isOpen == false)
        #expect(turn.rules.dueAt(ended.state.session) == nil)
        let again = try await take(.sessionDue(try due(first.state)), ended.state, at: 1801)
        #expect(again.outgoing.isEmpty && again.state == ended.state)
    }

    @Test func `an end that a text has overtaken is void`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        let second = try await take(message("100 kcal"), first.state, at: 1799)
        let late = try await take(.sessionDue(try due(first.state)), second.state, at: 1800)
        #expect(late.outgoing.isEmpty && late.state.session?.isOpen == true)
    }

    @Test func `a long session gets a new card before the old one's eight hours are over`() async throws {
        var state = try await take(message("600 kcal"), nil, at: 0).state
        for minutes in stride(from: 20.0, through: 460, by: 20) {
            state = try await take(message("hi"), state, at: minutes * 60).state
        }
        #expect(turn.rules.dueAt(state.session) == at(7.75 * 3600))
        let renewed = try await take(.sessionDue(try due(state)), state, at: 7.75 * 3600)
        let island = try #require(try islands(renewed).first)
        #expect(island.generation == 1 && island.sessionID == state.session?.id)
        guard case .show(let card) = island.desired else { return #expect(Bool(false), "not shown") }
        #expect(card.relevanceScore == 1, "the newer of two cards gets the Island")
        #expect(try contentState(island)?.calories == 600)
        #expect(renewed.state.session?.isOpen == true)
    }

    @Test func `a token that comes in late brings the current state once more, under a new timestamp`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        let reachable = IslandReachable(
            userID: "user-42", deviceID: "d", attributesType: "CoachAttributes", sessionID: first.state.session?.id)
        let again = try await take(.islandReachable(reachable), first.state, at: 5)
        #expect(
            try islands(again).map(\.desired)
                == islands(first).map { island in
                    guard case .show(let card) = island.desired else { return island.desired }
                    return .show(
                        DesiredIsland.Card(contentState: card.contentState, staleDate: card.staleDate, alert: nil))
                })
        // A card that the app has started meanwhile would drop an older one.
        #expect(try islands(again)[0].timestamp == Self.start / 1000 + 6)
        let other = IslandReachable(userID: "user-42", deviceID: "d", attributesType: "OrderAttributes", sessionID: nil)
        #expect(try await take(.islandReachable(other), first.state, at: 5).outgoing.isEmpty)
    }

    @Test func `the next state after an end gets a card of its own`() async throws {
        let turn = Turn(
            agent: AnyAgent(EndingAgent()), rules: SessionRules(idle: .seconds(1800)), staleAfter: .seconds(3600),
            partitions: 16)
        var state = UserState(handle: "+12025559876")
        var generations: [Int] = []
        for (index, text) in ["show", "end", "end", "show", "show"].enumerated() {
            let event = InboundEvent(handle: "+12025559876", content: message("\(text)"))
            let envelope = CloudEvent(
                id: "\(index)", source: "linq", type: event.type, time: at(0), traceparent: nil, data: event)
            let outcome = try await turn.take(
                Turn.Input(event: envelope, eventKey: "\(index)", record: known, now: at(Double(index))), state)
            state = outcome.state
            generations += try islands(outcome).map(\.generation)
        }
        #expect(generations == [0, 0, 0, 1, 1])
        #expect(state.session?.cardStartedAt == at(3))
    }

    @Test func `of two sessions the later one has the larger id, even if the clock was set back`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 7200, id: "zzz")
        let ended = try await take(.sessionDue(try due(first.state)), first.state, at: 9000)
        let second = try await take(message("100 kcal"), ended.state, at: 0, id: "aaa")
        let ids = try [first, second].map { try #require($0.state.session?.id) }
        #expect(ids[0] < ids[1])
        #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
    }

    @Test func `the end is told to late cards for twelve hours after it, however long the session's silence`()
        async throws
    {
        let turn = Turn(
            agent: AnyAgent(CoachAgent()), rules: SessionRules(idle: .seconds(13 * 3600)), staleAfter: .seconds(3600),
            partitions: 16)
        let first = try await take(message("600 kcal"), nil, at: 0)
        var state = first.state
        state.session?.isOpen = false
        state.island?.dismissalDate = 1
        let event = InboundEvent(
            handle: "+12025559876",
            content: .islandReachable(
                IslandReachable(
                    userID: "user-42", deviceID: "d", attributesType: "CoachAttributes", sessionID: state.session?.id)))
        func isTold(at hours: Double) async throws -> Bool {
            let envelope = CloudEvent(
                id: "\(hours)", source: "r", type: event.type, time: at(0), traceparent: nil, data: event)
            let input = Turn.Input(event: envelope, eventKey: "\(hours)", record: known, now: at(hours * 3600))
            return try await !turn.take(input, state).outgoing.isEmpty
        }
        #expect(try await isTold(at: 24))
        #expect(try await !isTold(at: 26))
    }

    @Test func `a token that comes in after the end is told of the end`() async throws {
        let first = try await take(message("600 kcal"), nil, at: 0)
        let ended = try await take(.sessionDue(try due(first.state)), first.state, at: 1800)
        let reachable = IslandReachable(
            userID: "user-42", deviceID: "d", attributesType: "CoachAttributes", sessionID: first.state.session?.id)
        let island = try #require(try islands(try await take(.islandReachable(reachable), ended.state, at: 1900)).first)
        guard case .end = island.desired else { return #expect(Bool(false), "not ended") }
    }

    @Test func `an unknown handle, an SMS and a group get replies and no Island`() async throws {
        let unknown = try await take(message("600 kcal"), nil, at: 0, record: .unknown("+12025559876"))
        #expect(try replies(unknown).count == 1 && islands(unknown).isEmpty)
        #expect(unknown.withoutIsland == .unknownUser)
        let sms = try await take(message("600 kcal", service: .sms), nil, at: 0)
        #expect(try replies(sms).count == 1 && islands(sms).isEmpty)
        #expect(sms.withoutIsland == .notIMessage)
        let group = try await take(message("600 kcal", group: true), nil, at: 0)
        #expect(try islands(group).isEmpty)
        #expect(group.state.session == nil)
    }

    @Test func `what was recovered late counts and gets no reply`() async throws {
        let open = try await take(message("600 kcal"), nil, at: 0)
        let late = try await take(message("100 kcal", reconciled: true), open.state, at: 10)
        #expect(try replies(late).isEmpty)
        #expect(try contentState(try #require(try islands(late).first))?.calories == 700)
        let first = try await take(message("100 kcal", reconciled: true), nil, at: 10)
        #expect(first.outgoing.isEmpty && first.state.session == nil && first.state.model != nil)
    }

    private func posted(_ name: String, _ payload: String) -> InboundEvent.Content {
        .custom(CustomEvent(name: name, payload: payload, receivedAt: at(0)))
    }

    private func turn(_ agent: AnyAgent, marksRead: Bool = false) -> Turn {
        Turn(
            agent: agent, rules: SessionRules(idle: .seconds(1800)), staleAfter: .seconds(3600), partitions: 16,
            marksRead: marksRead)
    }

    @Test func `an event of the backend opens a session if the agent shows something for it`() async throws {
        let turn = turn(AnyAgent(DeliveryAgent()))
        func take(_ content: InboundEvent.Content, _ state: UserState, at seconds: Double) async throws -> Turn.Outcome
        {
            let event = InboundEvent(handle: "+12025559876", content: content)
            let envelope = CloudEvent(
                id: "\(seconds)", source: "events", type: event.type, time: at(seconds), traceparent: nil, data: event)
            return try await turn.take(
                Turn.Input(event: envelope, eventKey: "events/\(seconds)", record: known, now: at(seconds)), state)
        }
        let other = try await take(posted("weather", "{}"), UserState(handle: "+12025559876"), at: 0)
        #expect(other.outgoing.isEmpty && other.state.session == nil)
        let left = try await take(
            posted("delivery", #"{"merchant":"Mario's","phase":"enRoute"}"#), other.state, at: 10)
        #expect(left.state.session?.isOpen == true && left.state.session?.startedAt == at(10))
        guard case .show? = try islands(left).first?.desired else { return #expect(Bool(false), "not shown") }
        // What is shown counts as activity, and what is not does not.
        let moved = try await take(posted("delivery", #"{"progress":0.5}"#), left.state, at: 1700)
        #expect(moved.state.session?.id == left.state.session?.id)
        #expect(moved.state.session?.lastActivityAt == at(1700))
        let rain = try await take(posted("weather", "{}"), moved.state, at: 1800)
        #expect(rain.outgoing.isEmpty && rain.state.session?.lastActivityAt == at(1700))
    }

    @Test func `a sync of the coach's moves a card that is up, and starts none`() async throws {
        let night = try await take(posted("meal", #"{"calories":320,"label":"Soup"}"#), nil, at: 0)
        #expect(night.outgoing.isEmpty && night.state.session == nil && night.state.model != nil)
        let text = try await take(message("600 kcal"), night.state, at: 10)
        #expect(try contentState(try #require(try islands(text).first))?.calories == 920)
        let lunch = try await take(posted("meal", #"{"calories":100}"#), text.state, at: 20)
        #expect(try contentState(try #require(try islands(lunch).first))?.calories == 1020)
        #expect(try replies(lunch).isEmpty)
    }

    @Test func `what an event says goes to the user alone, and nothing is shown to who writes by SMS`() async throws {
        var state = try await take(message("600 kcal", service: .sms), nil, at: 0).state
        let group = InboundMessage(
            messageID: "g", chat: Chat(id: "group", isGroup: true), sender: "sam@example.com", service: .iMessage,
            parts: [MessagePart(type: "text", value: "hi")], mentionsLine: true, receivedAt: at(1))
        let asked = try await take(.message(group), state, at: 1)
        #expect(try replies(asked).map(\.chat.id) == ["group"])
        state = asked.state
        #expect(state.lastChat?.id == "chat-1" && state.lastSender == "+12025559876")
        state.session?.isOpen = false
        let event = InboundEvent(handle: "+12025559876", content: posted("hello", "{}"))
        let envelope = CloudEvent(
            id: "e", source: "events", type: event.type, time: at(9000), traceparent: nil, data: event)
        let outcome = try await turn(AnyAgent(TalkingAgent())).take(
            Turn.Input(event: envelope, eventKey: "events/e", record: known, now: at(9000)), state)
        let said = try #require(try replies(outcome).first)
        #expect(said.chat.id == "chat-1" && said.to == "+12025559876" && said.marksRead == nil)
        #expect(try islands(outcome).isEmpty && outcome.withoutIsland == .notIMessage)
    }

    @Test func `the first reply to a text marks it as read, if that is wanted and can be seen`() async throws {
        func marks(_ content: InboundEvent.Content, _ isWanted: Bool = true) async throws -> [Bool?] {
            let event = InboundEvent(handle: "+12025559876", content: content)
            let envelope = CloudEvent(
                id: "e", source: "linq", type: event.type, time: at(0), traceparent: nil, data: event)
            let outcome = try await turn(AnyAgent(TalkingAgent()), marksRead: isWanted).take(
                Turn.Input(event: envelope, eventKey: "linq/e", record: known, now: at(0)),
                UserState(handle: "+12025559876"))
            return try replies(outcome).map(\.marksRead)
        }
        #expect(try await marks(message("hi")) == [true, nil, nil])
        #expect(try await marks(message("hi"), false) == [nil, nil, nil])
        #expect(try await marks(message("hi", service: .sms)) == [nil, nil, nil])
        #expect(try await marks(message("hi", group: true)) == [nil, nil, nil])
    }

    @Test func `a reply's link is a message of its own after the text, and effect and thread go along`() async throws {
        let event = InboundEvent(handle: "+12025559876", content: message("hi"))
        let envelope = CloudEvent(id: "e", source: "linq", type: event.type, time: at(0), traceparent: nil, data: event)
        let outcome = try await turn(AnyAgent(TalkingAgent())).take(
            Turn.Input(event: envelope, eventKey: "linq/e", record: known, now: at(0)),
            UserState(handle: "+12025559876"))
        let sent = try replies(outcome)
        #expect(sent.map { $0.parts.map(\.type) } == [["text", "media"], ["link"], ["text"]])
        #expect(sent.map { $0.parts.first?.value } == ["one", "https://a.example", "two"])
        #expect(sent.first?.parts.last?.url == "https://a.example/bowl.jpg")
        let confetti = ReplyRequest.Effect(type: "screen", name: "confetti")
        #expect(sent.map(\.effect) == [confetti, nil, nil])
        #expect(sent.map(\.replyTo) == ["m-9", "m-9", nil])
        #expect(Set(sent.map(\.idempotencyKey)).count == 3)
        #expect(Set(outcome.outgoing.filter { $0.type == ReplyRequest.type }.map(\.routingKey)).count == 1)
    }

    @Test func `a copy is recognised by its event and by its text`() {
        let event = InboundEvent(handle: "+12025559876", content: message("x"))
        let envelope = CloudEvent(
            id: "e1", source: "linq", type: event.type, time: at(0), traceparent: nil, data: event)
        #expect(EventHandler.keys(of: envelope) == ["linq/e1", "message/m-x"])
    }
}

/// Shows a state, or ends the card with it.
private struct EndingAgent: IslandAgent {
    struct Model: Codable, Sendable {}

    typealias Attributes = CoachAttributes

    let initialModel = Model()

    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<CoachAttributes.ContentState> {
        guard case .message(let message) = event else { return AgentResponse() }
        let isEnd = message.text == "end"
        return AgentResponse(island: isEnd ? .end(CoachAttributes.example) : .show(CoachAttributes.example))
    }
}

/// Says two things to whatever happens, and shows a state.
private struct TalkingAgent: IslandAgent {
    struct Model: Codable, Sendable {}

    typealias Attributes = CoachAttributes

    let initialModel = Model()

    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<CoachAttributes.ContentState> {
        let effect = ReplyRequest.Effect(type: "screen", name: "confetti")
        return AgentResponse(
            replies: [
                AgentReply(
                    "one", media: ["https://a.example/bowl.jpg"], link: "https://a.example", effect: effect,
                    replyTo: "m-9"), AgentReply("two"),
            ],
            island: .show(CoachAttributes.example))
    }
}
