import Foundation
import Shared
import Testing

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

/// Cards that never came up, or went with their app: when a session has another one, and when not.
@Suite struct `Lost cards`: Scenes {
    @Test func `pusher killed between leave and start`() async throws {
        let world = try await world()
        world.text("show first")
        try await world.stepAgent(World.phone)
        // Planned and granted: and then the process ends.
        for _ in 0..<2 { world.stepPusher(World.phone) }
        world.crashPusher()
        try await world.drain()
        #expect(starts(world) == 0)
        world.advance(by: .seconds(60))
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
        #expect(starts(world) == 1)
        try expectRight(world)
    }

    @Test func `pusher killed between APNs' answer to a start and the word of it`() async throws {
        let world = try await world()
        // Nothing wakes the app, so that no token tells what became of the start.
        world.onPhone("a") { phone, _ in phone.forceQuit() }
        world.text("show first")
        try await world.stepAgent(World.phone)
        for _ in 0..<3 { world.stepPusher(World.phone) }
        world.crashPusher()
        try await world.drain()
        #expect(try shown(world) == ["first"])
        world.advance(by: .seconds(60))
        try await say("show second", world)
        #expect(starts(world) == 2)
        #expect(try shown(world) == ["first", "second"], "the price of it: until the app is launched there are two")
        world.launch("a")
        try await world.drain()
        #expect(try shown(world) == ["second"])
        try expectRight(world)
    }

    @Test func `a start that APNs took is not repeated on a phone that says nothing`() async throws {
        let world = try await world()
        world.onPhone("a") { phone, _ in phone.forceQuit() }
        try await say("show first", world)
        for text in ["show second", "show third"] {
            world.advance(by: .seconds(600))
            try await say(text, world)
        }
        #expect(starts(world) == 1)
        #expect(try shown(world) == ["first"])
        world.launch("a")
        try await world.drain()
        #expect(try shown(world) == ["third"])
        try expectRight(world)
    }

    @Test func `two starts that come to a phone at once leave one card`() async throws {
        let world = try await world()
        // APNs keeps the first start for the phone, which is away, and the second is on its way when it comes back.
        world.onPhone("a") { phone, _ in phone.goOffline() }
        try await say("show first", world)
        for text in ["end", "show second"] {
            world.text(text)
            try await work(world)
        }
        #expect(starts(world) == 2)
        world.onPhone("a") { phone, now in phone.goOnline(at: now) }
        deliverAll(world)
        #expect(try shown(world) == ["second"])
        // The app has told both cards, and not yet that it has ended the first.
        for _ in 0..<2 { world.stepApp("a") }
        try await work(world)
        try await world.drain()
        #expect(try shown(world) == ["second"])
        try await say("show third", world)
        #expect(try shown(world) == ["third"])
        try expectRight(world)
    }

    @Test func `an app that is installed anew in mid-session has a card again`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.advance(by: .seconds(100))
        world.reinstall("a")
        #expect(try shown(world).isEmpty)
        try await world.drain()
        #expect(try shown(world) == ["first"])
        try await say("show second", world)
        #expect(try shown(world) == ["second"])
        #expect(starts(world) == 2)
        // As a device of its own, with another id, it had one all the same.
        world.addPhone("another")
        try await world.drain()
        #expect(try shown(world, "another") == ["second"])
        try expectRight(world)
    }

    @Test func `a swipe that nobody saw stays one`() async throws {
        let world = try await world()
        try await say("show first", world)
        world.advance(by: .seconds(100))
        world.onPhone("a") { phone, _ in phone.forceQuit() }
        world.dismiss("a", try #require(world.liveCards("a").first?.activityID))
        world.launch("a")
        try await world.drain()
        try await say("show second", world)
        #expect(try shown(world).isEmpty)
        #expect(starts(world) == 1)
        try expectRight(world)
    }

    @Test func `only the device that a token came in for is pushed to again`() async throws {
        let world = try await world()
        try await say("show first", world)
        let pushes = world.apns.pushCount["a"]
        world.addPhone("b")
        try await world.drain()
        #expect(try shown(world, "b") == ["first"])
        #expect(world.apns.pushCount["a"] == pushes)
        world.onPhone("b") { phone, _ in phone.rotateTokens() }
        try await world.drain()
        #expect(world.apns.pushCount["a"] == pushes)
        try await say("show second", world)
        #expect(try shown(world) == ["second"] && shown(world, "b") == ["second"])
        try expectRight(world)
    }
}
