import Foundation
import Shared
import Testing

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

/// What the tests of a life have in common.
protocol Scenes {}

extension Scenes {
    var kind: String { World.kind }

    /// A user with a phone whose app has registered.
    func world(phone: String? = "a", agent: AnyAgent = AnyAgent(LedgerAgent())) async throws -> World {
        let world = World(agent: agent)
        world.keepsTrace = true
        world.register(handles: [World.phone, World.email])
        if let phone { world.addPhone(phone) }
        try await world.drain()
        return world
    }

    func say(_ text: String, _ world: World, from handle: String = World.phone) async throws {
        world.text(text, from: handle)
        try await world.drain()
        world.advance(by: .seconds(2))
    }

    /// The texts that a phone's live cards show.
    func shown(_ world: World, _ id: String = "a") throws -> [String] {
        try world.liveCards(id).map { card in
            try JSONDecoder().decode(CoachAttributes.ContentState.self, from: Data(card.contentState)).lastMeal
        }
    }

    func cards(_ world: World) -> [TokenRegistry.Card] { world.registry.users[World.user]?.cards ?? [] }

    func starts(_ world: World) -> Int { world.apns.starts.values.reduce(0, +) }

    func expectRight(_ world: World) throws {
        try world.judge(afterLaunch: true)
        #expect(world.allProblems.isEmpty, "\(world.trace.joined(separator: "\n"))")
    }

    /// Lets agent, registry and pusher work, but neither APNs' deliveries nor the apps.
    func work(_ world: World) async throws {
        for _ in 0..<200 {
            world.stepOutbox()
            for handle in world.inbound.keys.sorted() { try await world.stepAgent(handle) }
            for handle in world.islands.keys.sorted() { world.stepPusher(handle) }
            world.stepCommand()
        }
    }

    func deliverAll(_ world: World) { while !world.apns.inFlight.isEmpty { world.deliver(0) } }
}

extension DesiredIsland.Desired {
    var contentState: String? {
        switch self {
        case .show(let card): card.contentState
        case .end(let ending): ending.contentState
        }
    }
}
