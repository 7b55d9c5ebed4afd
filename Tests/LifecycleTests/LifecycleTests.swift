import Foundation
import Shared
import Testing

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

/// Rules of a card's life beside the faults that were met in the field.
@Suite struct `A card's life`: Scenes {
    @Test func `a card that nobody updates turns stale`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.devices["a"]?.needsLaunch = true
        world.onPhone("a") { phone, now in phone.pass(at: now + 3700) }
        #expect(world.liveCards("a").map(\.phase) == [.stale])
    }

    @Test func `a state that was kept under an unknown handle comes along`() async throws {
        let world = World()
        try await say("show first", world, from: World.email)
        world.register(handles: [World.phone, World.email])
        world.addPhone("a")
        try await world.drain()
        #expect(try shown(world) == ["first"])
        try await say("show second", world)
        #expect(world.agent.desired[World.user]?.desired.contentState?.contains(#""calories":2,"#) == true)
        #expect(world.agent.states.values.filter { $0.model != nil }.map(\.handle) == [World.phone])
        try expectRight(world)
    }

    @Test func `who changes to a number that they had written from before keeps their own state`() async throws {
        let world = World()
        let number = "+13105550100"
        world.register(handles: [World.phone])
        world.addPhone("a")
        try await world.drain()
        for text in ["show first", "show second"] { try await say(text, world) }
        try await say("show stray", world, from: number)
        world.register(handles: [number])
        try await world.drain()
        #expect(try shown(world) == ["second"])
        try await say("show third", world, from: number)
        #expect(try shown(world) == ["third"])
        #expect(world.agent.desired[World.user]?.desired.contentState?.contains(#""calories":3,"#) == true)
        // What was written from the number while nobody knew whose it was is kept for the record.
        #expect(world.agent.replaced.compactMap(\.island?.contentState).map { $0.contains("stray") } == [true])
        #expect(world.agent.states.values.filter { $0.model != nil }.map(\.handle) == [number])
        try expectRight(world)
    }

    @Test func `a state follows its user over two changes of number, however late it moves`() async throws {
        let world = World()
        world.register(handles: [World.phone])
        world.addPhone("a")
        try await world.drain()
        try await say("show first", world)
        world.register(handles: ["+13105550100"])
        world.register(handles: [World.phone])
        try await world.drain()
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
        #expect(world.agent.desired[World.user]?.desired.contentState?.contains(#""calories":2,"#) == true)
        #expect(world.agent.states.values.filter { $0.model != nil }.map(\.handle) == [World.phone])
        try expectRight(world)
    }

    @Test func `what a phone missed is shown when its app is launched`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.faults = [.acceptedAndLost]
        try await say("show second", world)
        #expect(try shown(world) == ["first"])
        world.launch("a")
        try await world.drain()
        #expect(try shown(world) == ["second"])
        try expectRight(world)
    }

    @Test func `a card whose token died is not started again in its session`() async throws {
        let world = try await world()
        try await say("show first", world)
        let token = try #require(cards(world).first?.token)
        world.apns.kill(token, .expired, at: world.now)
        try await say("show second", world)
        try await say("show third", world)
        #expect(starts(world) == 1)
        #expect(cards(world).map(\.state) == [.ended])
        // The app, which knows better, brings it back.
        world.onPhone("a") { phone, _ in phone.rotateTokens() }
        try await world.drain()
        #expect(try shown(world) == ["third"])
        #expect(starts(world) == 1)
        try expectRight(world)
    }
}
