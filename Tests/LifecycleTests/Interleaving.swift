import Shared

@testable import Agent
@testable import Simulator

/// A random life of one user, with everything that may go wrong in it; the same for the same seed.
struct Interleaving {
    static let steps = 200

    let world: World
    /// The step after which there are no more texts while things go wrong.
    private let lastText: Int

    init(seed: UInt64) {
        // Half of the lives have long sessions, so that cards are renewed.
        world = World(seed: seed, idle: seed.isMultiple(of: 2) ? .seconds(1800) : .seconds(12 * 3600))
        lastText = 40 + world.random.below(Self.steps)
    }

    /// Runs it; returns what was wrong.
    func run() async throws -> [String] {
        world.register(handles: [World.phone, World.email])
        addPhone("a")
        if world.random.onceIn(2) { addPhone("b") }
        world.goesWrong = true
        for number in 0..<Self.steps {
            world.now = world.now + .milliseconds(world.random.below(1500))
            try await step(number)
            guard world.allProblems.isEmpty else { return world.allProblems }
        }
        try await settle()
        return world.allProblems
    }

    private func addPhone(_ id: String) {
        world.addPhone(
            id, system: world.random.onceIn(3) ? .iOS17 : .iOS18,
            environment: world.random.onceIn(3) ? .sandbox : .production, tellsEnvironment: !world.random.onceIn(3))
    }

    /// Nothing goes wrong any more and all that waits is done; then the user writes once more, each app is launched once,
    /// and the user writes again.
    private func settle() async throws {
        world.note("no more faults")
        world.goesWrong = false
        for id in world.devices.keys.sorted() { world.onPhone(id) { phone, now in phone.goOnline(at: now) } }
        try await rest()
        try world.judge(afterLaunch: false)
        world.text("show once more", from: World.phone)
        try await rest()
        try world.judge(afterText: true, afterLaunch: false)
        // A push-to-start token that had died is here now; a start that was in doubt still waits for a text.
        for id in world.devices.keys.sorted() { world.launch(id) }
        try await rest()
        try world.judge(afterLaunch: true)
        world.text("show the last", from: World.email)
        try await rest()
        try world.judge(afterText: true, afterLaunch: true)
    }

    /// Lets what waits be done, and time pass until a start of unknown outcome may be granted anew.
    private func rest() async throws {
        try await world.drain()
        world.advance(by: .seconds(61))
        try await world.drain()
    }

    private func step(_ number: Int) async throws {
        switch world.random.below(100) {
        case 0..<8: if number < lastText { text() }
        case 8..<34:
            let waiting = world.inbound.keys.sorted().filter { world.inbound[$0]?.isEmpty == false }
            if let handle = world.random.pick(waiting) {
                try await world.stepAgent(handle, crash: world.random.onceIn(10))
            }
        case 34..<60:
            let waiting = world.islands.keys.sorted().filter { world.islands[$0]?.isEmpty == false }
            if let handle = world.random.pick(waiting) { world.stepPusher(handle) }
        case 60..<66: world.stepCommand()
        case 66..<73: world.stepOutbox()
        case 73..<82:
            let count = world.apns.inFlight.count
            if count > 0 { world.deliver(world.random.below(count)) }
        case 82..<91: world.stepApp(device())
        case 91..<95: try onPhone()
        case 95..<98: passTime()
        case 98: world.crashPusher()
        default: if world.random.onceIn(3) { world.registry.loseCache() }
        }
    }

    private func text() {
        let handle = world.random.onceIn(4) ? World.email : World.phone
        let word = world.random.pick(["show", "show", "show", "show", "quiet", "alert", "hello", "end"]) ?? "show"
        world.text("\(word) \(world.random.below(1000))", from: handle)
    }

    private func device() -> String { world.random.pick(world.devices.keys.sorted()) ?? "" }

    private func passTime() {
        let seconds = world.random.pick([5, 30, 300, 1200, 1900, 3 * 3600, 5 * 3600]) ?? 5
        world.note("\(seconds) seconds pass")
        world.advance(by: .seconds(seconds))
    }

    private func onPhone() throws {
        let id = device()
        guard let phone = world.devices[id]?.phone else { return }
        switch world.random.below(12) {
        case 0, 1:
            if let card = world.random.pick(world.liveCards(id)) { world.dismiss(id, card.activityID) }
        case 2, 3:
            if phone.isOnline {
                world.note("\(id) goes offline")
                world.onPhone(id) { phone, _ in phone.goOffline() }
            } else {
                world.note("\(id) goes online")
                world.onPhone(id) { phone, now in phone.goOnline(at: now) }
            }
        case 4:
            world.note("\(id): the app is quit")
            world.devices[id]?.needsLaunch = true
            world.onPhone(id) { phone, _ in phone.forceQuit() }
        case 5, 6:
            world.note("\(id): the app is opened")
            world.onPhone(id) { phone, _ in phone.open() }
        case 7: world.onPhone(id) { phone, _ in phone.leave() }
        case 8: if world.random.onceIn(2) { world.reinstall(id) }
        case 9, 10:
            world.note("\(id): tokens change")
            world.onPhone(id) { phone, _ in phone.rotateTokens() }
        default:
            guard world.liveCards(id).isEmpty, phone.isOnline else { return }
            world.note("\(id): the app starts a card of its own")
            let state = try IslandKind.named(World.kind).example()
            try world.onPhone(id) { phone, now in
                try phone.startFromApp(IslandKind.named(World.kind), state: state, at: now)
            }
        }
    }
}
