import Foundation
import Shared
import Testing

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

/// One test for each fault that was met in the field, played through the whole installation.
@Suite struct `Faults met in the field`: Scenes {
    @Test func `late update token`() async throws {
        let world = try await world()
        world.text("show first")
        try await work(world)
        deliverAll(world)
        #expect(try shown(world) == ["first"])
        // The app has its token and has not yet told it.
        for text in ["show second", "show third"] {
            world.text(text)
            try await work(world)
        }
        deliverAll(world)
        #expect(try shown(world) == ["first"])
        world.advance(by: .seconds(300))
        try await world.drain()
        #expect(try shown(world) == ["third"])
        #expect(starts(world) == 1)
        try expectRight(world)
    }

    @Test func `duplicate start under redelivery`() async throws {
        let world = try await world()
        world.text("show first")
        try await world.stepAgent(World.phone)
        // Planned, granted, sent: and then the process ends before it has acknowledged.
        for _ in 0..<3 { world.stepPusher(World.phone) }
        #expect(starts(world) == 1)
        world.crashPusher()
        #expect(world.islands[World.phone]?.count == 1)
        try await world.drain()
        #expect(starts(world) == 1)
        #expect(try shown(world) == ["first"])
        try expectRight(world)
    }

    @Test func `a start wiping a newer token`() async throws {
        let world = try await world()
        world.text("show first")
        try await work(world)
        deliverAll(world)
        // The card is live in the registry before the pusher's late news of its start arrives.
        world.stepApp("a")
        let token = try #require(cards(world).first?.token)
        let grant = cards(world).first?.startRequest
        let start = RegistryStart(
            userID: World.user, deviceID: "a", attributesType: kind, sessionID: try #require(cards(world)[0].sessionID),
            generation: 0, grant: grant, mayRetry: true)
        world.commands.append(.startRefused(start))
        world.commands.append(
            .environmentLearned(
                RegistryCommand.EnvironmentLearned(userID: World.user, token: token, environment: .production)))
        try await world.drain()
        #expect(cards(world).map(\.token) == [token])
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
        #expect(starts(world) == 1)
        try expectRight(world)
    }

    @Test func `wrong 410 pruning a fresh token`() async throws {
        let world = try await world()
        try await say("show first", world)
        let token = cards(world).first?.token
        world.faults = [.goneLongAgo]
        try await say("show second", world)
        #expect(cards(world).first?.token == token)
        #expect(try shown(world) == ["second"])
        // Said twice, it is believed, but the registry knows better.
        world.faults = [.goneLongAgo, .goneLongAgo]
        try await say("show third", world)
        #expect(cards(world).first?.token == token)
        try await say("show fourth", world)
        #expect(try shown(world) == ["fourth"])
        try expectRight(world)
    }

    @Test func `stale card after silence`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.faults = [.acceptedAndLost]
        world.text("show second")
        try await world.drain()
        // The silence ends the session; until then the card says itself that it is old.
        world.advance(by: .seconds(1900))
        #expect(world.liveCards("a").allSatisfy { $0.staleDate != nil })
        try await world.drain()
        #expect(try shown(world).isEmpty)
        let card = try #require(world.devices["a"]?.phone.cards.first)
        guard case .ended(let removal) = card.phase else { return #expect(Bool(false), "not ended") }
        #expect(abs(removal.timeIntervalSince(world.now.date) - 900) < 1)
        try expectRight(world)
    }

    @Test func `second phone gets its own start`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.addPhone("b", system: .iOS17)
        try await world.drain()
        #expect(try shown(world, "b") == ["first"])
        #expect(starts(world) == 2)
        try await say("show second", world)
        #expect(try shown(world) == ["second"] && shown(world, "b") == ["second"])
        #expect(starts(world) == 2)
        try expectRight(world)
    }

    @Test func `dismissed card stays dismissed for the session`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.dismiss("a", try #require(world.liveCards("a").first?.activityID))
        try await world.drain()
        let pushes = world.apns.pushCount["a"]
        try await say("show second", world)
        try await say("end third", world)
        try await say("show fourth", world)
        #expect(world.apns.pushCount["a"] == pushes)
        #expect(try shown(world).isEmpty)
        world.advance(by: .seconds(1900))
        try await world.drain()
        try await say("show fifth", world)
        #expect(try shown(world) == ["fifth"])
        try expectRight(world)
    }

    @Test func `app-started activity is adopted`() async throws {
        let world = try await world()
        let kind = try IslandKind.named(kind)
        let state = try kind.example()
        try world.onPhone("a") { phone, now in try phone.startFromApp(kind, state: state, at: now) }
        try await world.drain()
        world.advance(by: .seconds(1))
        try await say("show first", world)
        #expect(try shown(world) == ["first"])
        #expect(starts(world) == 0)
        #expect(cards(world).map(\.sessionID) == [world.agent.states[World.phone]?.session?.id])
        world.advance(by: .seconds(1900))
        try await world.drain()
        #expect(try shown(world).isEmpty)
        try expectRight(world)
    }

    @Test func `renewal before eight hours with no gap`() async throws {
        let world = World(idle: .seconds(12 * 3600))
        world.register(handles: [World.phone])
        world.addPhone("a")
        try await say("show first", world)
        let began = world.now
        while world.now < began + .seconds(9 * 3600) {
            world.advance(by: .seconds(300))
            for _ in 0..<40 {
                try await work(world)
                #expect(world.liveCards("a").count == 1, "a gap, or one too many")
                guard !world.apns.inFlight.isEmpty || world.devices["a"]?.calls.isEmpty == false else { break }
                if !world.apns.inFlight.isEmpty { world.deliver(0) } else { world.stepApp("a") }
                #expect(world.liveCards("a").count == 1, "a gap, or one too many")
            }
        }
        #expect(try shown(world) == ["first"])
        #expect(cards(world).map(\.generation) == [0, 1])
        #expect(cards(world).map(\.state) == [.ended, .live])
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
        #expect(starts(world) == 2)
        try expectRight(world)
    }

    /// By no copy of its state, no publication of that, and no text while its token may still come.
    @Test(arguments: [true, false])
    func `ambiguous start is not repeated`(isTaken: Bool) async throws {
        let world = try await world()
        world.faults = [isTaken ? .lostAnswer : .lostRequest]
        world.text("show first")
        try await world.stepAgent(World.phone)
        let copy = try #require(world.islands[World.phone]?.first)
        try await world.drain()
        try await say("show second", world)
        #expect(starts(world) == (isTaken ? 1 : 0))
        #expect(try shown(world) == (isTaken ? ["second"] : []))
        // Neither does time bring it back, nor the same state, nor a state that no text has made.
        world.advance(by: .seconds(100))
        world.islands[World.phone] = [copy]
        try await world.drain()
        world.addPhone("b")
        world.launch("a")
        try await world.drain()
        #expect(starts(world) == (isTaken ? 2 : 1), "one of them is b's")
        // The next text does, where it is still not known whether there is a card.
        try await say("show third", world)
        #expect(try shown(world) == ["third"] && shown(world, "b") == ["third"])
        #expect(starts(world) == 2)
        try expectRight(world)
    }

    @Test func `two states in one second`() async throws {
        let world = try await world()
        try await say("show first", world)
        let before = try #require(world.agent.desired[World.user]?.timestamp)
        world.text("show second")
        world.text("show third")
        for _ in 0..<2 { try await world.stepAgent(World.phone) }
        #expect(world.agent.desired[World.user]?.timestamp ?? 0 >= before + 2)
        // The newer one is delivered first.
        while world.islands[World.phone]?.isEmpty == false { world.stepPusher(World.phone) }
        while !world.apns.inFlight.isEmpty { world.deliver(world.apns.inFlight.count - 1) }
        #expect(try shown(world) == ["third"])
        try await world.drain()
        try expectRight(world)
    }

    @Test func `handle moves to another user`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.register(handles: [World.phone], of: "alex")
        try await world.drain()
        try await say("show second", world)
        // Sam's phone hears nothing of what is Alex's now, and Alex's state begins anew.
        #expect(try shown(world) == ["first"])
        #expect(world.agent.states[World.phone]?.userID == "alex")
        #expect(world.agent.states[World.phone]?.island?.contentState.contains(#""calories":1,"#) == true)
        // Sam goes on under the handle that is left, and what has been goes along.
        try await say("show third", world, from: World.email)
        #expect(try shown(world) == ["third"])
        #expect(starts(world) == 1)
        #expect(world.agent.states[World.email]?.island?.contentState.contains(#""calories":2,"#) == true)
        #expect(world.agent.replaced.isEmpty)
        #expect(world.registry.record(of: World.email).userID == World.user)
    }

    @Test(arguments: ["", "   ", "abc"])
    func `nil or empty token never clears`(token: String) async throws {
        let world = try await world()
        try await say("show first", world)
        let before = world.registry.users[World.user]
        let body = #"{"attributesType":"CoachAttributes","token":"\#(token)"}"#
        #expect(throws: RequestRefused.self) {
            try RequestBody.decode(RequestBody.StartToken.self, from: Array(body.utf8)).checked(device: "a")
        }
        #expect(throws: RequestRefused.self) {
            try RequestBody.decode(RequestBody.Activity.self, from: Array(body.utf8))
                .checked(device: "a", activity: "A", now: world.now)
        }
        for body in [#"{"attributesType":"CoachAttributes","token":null}"#, #"{"attributesType":"CoachAttributes"}"#] {
            #expect(throws: RequestRefused.self) {
                try RequestBody.decode(RequestBody.StartToken.self, from: Array(body.utf8)).checked(device: "a")
            }
        }
        #expect(world.registry.users[World.user] == before)
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
    }

    @Test func `sandbox token against production and back`() async throws {
        let world = try await world(phone: nil)
        world.addPhone("a", environment: .sandbox, tellsEnvironment: false)
        world.addPhone("b", environment: .production, tellsEnvironment: false)
        try await say("show first", world)
        try await say("show second", world)
        #expect(try shown(world) == ["second"] && shown(world, "b") == ["second"])
        #expect(cards(world).first { $0.deviceID == "a" }?.environment == .sandbox)
        #expect(cards(world).first { $0.deviceID == "b" }?.environment == .production)
        let tokens = world.registry.users[World.user]?.startTokens ?? []
        #expect(tokens.first { $0.deviceID == "a" }?.environment == .sandbox)
        // What was learned wrongly is learned again.
        let token = try #require(cards(world).first { $0.deviceID == "a" }?.token)
        world.commands.append(
            .environmentLearned(
                RegistryCommand.EnvironmentLearned(userID: World.user, token: token, environment: .production)))
        try await say("show third", world)
        #expect(try shown(world) == ["third"])
        #expect(cards(world).first { $0.deviceID == "a" }?.environment == .sandbox)
        try expectRight(world)
    }

    @Test func `unknown handle, SMS handle, group sender`() async throws {
        let world = try await world()
        try await say("show first", world, from: "+13105550100")
        world.text("show second", service: .sms)
        try await world.drain()
        world.text("show third", isGroup: true)
        try await world.drain()
        #expect(world.replies == 3)
        #expect(starts(world) == 0)
        #expect(try shown(world).isEmpty)
        try await say("show fourth", world)
        #expect(try shown(world) == ["fourth"])
        #expect(world.allProblems.isEmpty)
    }

    @Test func `phone and e-mail of one user share one card`() async throws {
        let world = try await world()
        try await say("show first", world)
        try await say("show second", world, from: World.email)
        #expect(try shown(world) == ["second"])
        #expect(starts(world) == 1)
        #expect(world.agent.states.values.filter { $0.model != nil }.map(\.handle) == [World.phone])
        #expect(world.agent.desired[World.user]?.desired.contentState?.contains(#""calories":2,"#) == true)
        try expectRight(world)
    }

    @Test func `undecodable state refused before it is sent`() async throws {
        // What an agent in another language may say: a number with a fraction where the app has an Int.
        let states = Bodies([
            #"{"calories":640,"goal":2100,"lastMeal":"good","streak":1}"#,
            #"{"calories":640.5,"goal":2100,"lastMeal":"bad","streak":1}"#,
            #"{"calories":700,"goal":2100,"lastMeal":"better","streak":1}"#,
        ])
        let world = try await world(agent: states.agent)
        try await say("1", world)
        #expect(try shown(world) == ["good"])
        let pushes = world.apns.pushCount["a"]
        try await say("2", world)
        #expect(try shown(world) == ["good"])
        #expect(world.apns.pushCount["a"] == pushes)
        #expect(world.replies == 2, "the reply goes out all the same")
        try await say("3", world)
        #expect(try shown(world) == ["better"])
        try expectRight(world)
    }

    @Test func `4096 and 4097 bytes`() async throws {
        func state(_ length: Int) -> String {
            #"{"calories":1,"goal":2100,"lastMeal":"\#(String(repeating: "x", count: length))","streak":1}"#
        }
        // A start is the largest push there is; measure what is left in it.
        let context = AgentContext(
            eventID: "e", now: Date(timeIntervalSince1970: Double(World.start) / 1000),
            user: AgentUser(handle: World.phone, id: World.user),
            session: AgentSession(id: UUID().uuidString.lowercased(), isNew: true, startedAt: Date()))
        func isTaken(_ length: Int) -> Bool {
            AnyAgent.Outcome(
                AgentResponse(island: .show(Array(state(length).utf8))), model: nil,
                kind: IslandKind(CoachAttributes.self),
                context: context, encode: { json throws(ContentStateError) in json }
            ).refusal == nil
        }
        var longest = 3000
        while isTaken(longest + 1) { longest += 1 }
        let states = Bodies([state(longest), state(longest + 1), state(3)])
        let world = try await world(agent: states.agent)
        try await say("1", world)
        #expect(try shown(world).map(\.count) == [longest])
        try await say("2", world)
        #expect(try shown(world).map(\.count) == [longest], "4097 bytes are refused, the last good state stays")
        try await say("3", world)
        #expect(try shown(world) == ["xxx"])
        #expect(world.replies == 3)
        try expectRight(world)

        let body = try PushBody.update(
            timestamp: 1, contentState: Array(state(0).utf8), staleDate: nil)
        let exact = Array(state(PushBody.limit - body.count).utf8)
        #expect(try PushBody.update(timestamp: 1, contentState: exact, staleDate: nil).count == 4096)
        let tooLong = Array(state(PushBody.limit - body.count + 1).utf8)
        #expect(throws: ContentStateError.self) {
            try PushBody.update(timestamp: 1, contentState: tooLong, staleDate: nil)
        }
    }
}

/// An agent that shows the given states, byte for byte, one a text.
private struct Bodies {
    let agent: AnyAgent

    init(_ states: [String]) {
        let kind = IslandKind(CoachAttributes.self)
        agent = AnyAgent(kind: kind) { event, model, context in
            guard case .message(let message) = event, let number = Int(message.text) else {
                return AnyAgent.Outcome(
                    AgentResponse(), model: model, kind: kind, context: context,
                    encode: { json throws(ContentStateError) in try kind.check(json) })
            }
            let response = AgentResponse(
                replies: [AgentReply("noted")], island: .show(Array(states[number - 1].utf8)))
            return AnyAgent.Outcome(
                response, model: model, kind: kind, context: context,
                encode: { json throws(ContentStateError) in try kind.check(json) })
        }
    }
}
