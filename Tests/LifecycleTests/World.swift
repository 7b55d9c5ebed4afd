import Foundation
import Runtime
import Shared

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

/// A whole installation in one thread: the services' real rules, over models of what they stand on.
///
/// Nothing happens by itself. A test lets one thing happen after another, in any order that the real parts could see,
/// and can end a service between any two of its steps.
final class World {
    static let phone = "+12025559876"
    static let email = "sam@example.com"
    static let user = "sam"
    static let kind = CoachAttributes.attributesType
    static let start: Int64 = 1_790_000_000_000

    var random: SeededGenerator
    var now = Timestamp(millisecondsSince1970: World.start)
    var agent: ModelAgent
    var registry = ModelRegistry()
    var apns = ModelAPNS()
    var pusher = ModelPusher()
    /// By handle: each lane of the inbound stage, the oldest first.
    var inbound: [String: [CloudEvent<InboundEvent>]] = [:]
    /// By handle: each lane of the islands stage.
    var islands: [String: [CloudEvent<DesiredIsland>]] = [:]
    var commands: [RegistryCommand] = []
    /// How many replies went out.
    var replies = 0
    var devices: [String: Device] = [:]
    /// By device, session and generation: cards that need not be there, since their starts were lost after APNs had
    /// taken them.
    var lostStarts: Set<String> = []
    /// Those of which the registry has heard that APNs took the last one.
    var knownStarts: Set<String> = []
    /// When leave was last given for a start, by device, session and generation.
    var lastLeaves: [String: Timestamp] = [:]
    /// How often what is worth counting has happened.
    var happened: [String: Int] = [:]
    /// Swipes that the registry has confirmed, by device and session.
    var confirmedDismissals: Set<String> = []
    /// APNs' answers that come before any other, in this order.
    var faults: [ModelAPNS.Fault] = []
    /// Whether things go wrong by chance.
    var goesWrong = false
    private(set) var problems: [String] = []
    private(set) var trace: [String] = []
    /// Costs more than all the rest.
    var keepsTrace = false
    private var serial = 0

    init(seed: UInt64 = 0, idle: Duration = .seconds(1800), agent: AnyAgent = AnyAgent(LedgerAgent())) {
        random = SeededGenerator(seed: seed)
        self.agent = ModelAgent(
            turn: Turn(
                agent: agent, rules: SessionRules(idle: idle), staleAfter: .seconds(3600), partitions: 16))
    }

    func freshID(_ prefix: String) -> String {
        serial += 1
        return "\(prefix)\(serial)"
    }

    func note(_ what: @autoclosure () -> String) {
        guard keepsTrace else { return }
        trace.append("\((now.millisecondsSince1970 - Self.start) / 1000) s: \(what())")
    }

    func complain(_ problem: String) {
        note("PROBLEM \(problem)")
        problems.append(problem)
    }

    /// Everything that was found to be wrong.
    var allProblems: [String] { problems + apns.problems }

    /// Whether something goes wrong now: by chance, and only while things do.
    func fails(onceIn times: Int) -> Bool { goesWrong && random.onceIn(times) }

    // MARK: What people do

    /// A text from the user.
    func text(
        _ text: String, from handle: String = World.phone, service: MessageService = .iMessage, isGroup: Bool = false
    ) {
        note("text \(text) from \(handle)")
        let message = InboundMessage(
            messageID: freshID("m"), chat: Chat(id: isGroup ? "group" : "chat \(handle)", isGroup: isGroup),
            sender: handle, service: service, parts: [MessagePart(type: "text", value: text)], receivedAt: now)
        let event = InboundEvent(handle: handle, content: .message(message))
        inbound[handle, default: []].append(
            CloudEvent(
                id: freshID("e"), source: "linq", type: event.type, time: now, traceparent: nil, data: event))
    }

    /// The customer's backend says which handles a user has.
    func register(handles: [String], of userID: String = World.user) {
        let handles = handles.compactMap(Shared.Handle.init)
        registry.change(userID, claiming: .handles(handles), at: now, follows: true) { user, _ in
            user.replaceHandles(with: handles)
        }
    }

    /// Time goes on, and the phones see it.
    func advance(by duration: Duration) {
        now = now + duration
        for id in devices.keys.sorted() { onPhone(id) { $0.pass(at: $1) } }
        for event in agent.due(at: now) { inbound[event.data.handle, default: []].append(event) }
    }

    // MARK: The agent

    /// One event through the agent.
    ///
    /// - Parameter crash: Whether the process ends on the way: before the commit, or after some of what follows.
    func stepAgent(_ handle: String, crash: Bool = false) async throws {
        guard let event = inbound[handle]?.first, let record = record(for: event.data) else { return }
        if record.canonicalHandle != handle, event.data.follows(record) {
            let passed = InboundEvent(handle: record.canonicalHandle, isPassedOn: true, content: event.data.content)
            inbound[record.canonicalHandle, default: []].append(
                CloudEvent(
                    id: event.id, source: event.source, type: event.type, time: event.time,
                    traceparent: event.traceparent, data: passed))
            if !crash { inbound[handle]?.removeFirst() }
            return
        }
        note("agent takes \(event.type) \(event.id)\(crash ? " and crashes" : "")")
        let outgoing = try await agent.work(event, record, at: now)
        let published = crash ? random.below(outgoing.count + 1) : outgoing.count
        for one in outgoing.prefix(published) { try publish(one) }
        guard !crash else { return agent.crash() }
        agent.forgetOutgoing(of: event)
        inbound[handle]?.removeFirst()
    }

    private func record(for event: InboundEvent) -> RegistryRecord? {
        if case .stateMoved(let moved) = event.content, let userID = moved.userID {
            return registry.users[userID]?.record ?? .unknown("")
        }
        return lookup(event.handle)
    }

    private func publish(_ outgoing: Outgoing) throws {
        switch outgoing.exchange {
        case Stage.islands.exchange:
            let event = try CloudEvent<DesiredIsland>(decoding: Array(outgoing.body.utf8))
            islands[event.data.handle, default: []].append(event)
        case Stage.inbound.exchange:
            let event = try CloudEvent<InboundEvent>(decoding: Array(outgoing.body.utf8))
            inbound[event.data.handle, default: []].append(event)
        default: replies += 1
        }
    }

    /// What a service is told of a handle: by the cache, or by the registry; `nil` if nobody answers.
    func lookup(_ handle: String) -> RegistryRecord? {
        if let record = registry.cachedRecord(of: handle, at: now) { return record }
        guard !fails(onceIn: 10) else { return nil }
        let record = registry.record(of: handle)
        registry.fill(record, for: handle, at: now)
        return record
    }

    // MARK: The registry

    /// One command of the pusher's; it may come twice.
    func stepCommand() {
        guard let command = commands.first else { return }
        note("registry takes \(command.label)")
        let follows = !fails(onceIn: 10)
        registry.change(command.userID, at: now, follows: follows) { user, now in user.apply(command, at: now) }
        if case .startAccepted(let start) = command,
            registry.users[start.userID]?.cards.contains(where: { $0.startRequest == start.grant && $0.isStartAccepted }
            )
                ?? false
        {
            knownStarts.insert(Self.key(start.deviceID, start.sessionID, start.generation))
        }
        if !fails(onceIn: 10) { commands.removeFirst() }
    }

    func stepOutbox() {
        for event in registry.workOutbox(at: now, forgets: !fails(onceIn: 6)) {
            inbound[event.data.handle, default: []].append(event)
        }
    }

    // MARK: Everything

    /// Lets all that waits happen, without faults, until nothing is left.
    func drain() async throws {
        let wentWrong = goesWrong
        goesWrong = false
        defer { goesWrong = wentWrong }
        for _ in 0..<2000 {
            var isIdle = registry.isIdle && commands.isEmpty && apns.inFlight.isEmpty
            stepOutbox()
            while !commands.isEmpty { stepCommand() }
            for handle in inbound.keys.sorted() where inbound[handle]?.isEmpty == false {
                isIdle = false
                try await stepAgent(handle)
            }
            for handle in islands.keys.sorted() where islands[handle]?.isEmpty == false {
                isIdle = false
                stepPusher(handle)
            }
            while !apns.inFlight.isEmpty { deliver(0) }
            for id in devices.keys.sorted()
            where devices[id]?.calls.isEmpty == false && devices[id]?.phone.isOnline == true {
                isIdle = false
                stepApp(id)
            }
            if isIdle { return }
            now = now + .milliseconds(20)
        }
        complain("the installation does not come to rest")
    }
}

extension RegistryCommand {
    fileprivate var label: String {
        switch self {
        case .startRefused(let start):
            "start refused \(start.deviceID) \(start.sessionID.suffix(4)).\(start.generation)"
        case .startAccepted(let start):
            "start accepted \(start.deviceID) \(start.sessionID.suffix(4)).\(start.generation)"
        case .tokenDead(let dead): "dead \(dead.token.prefix(6))"
        case .environmentLearned(let learned): "\(learned.token.prefix(6)) is of \(learned.environment)"
        case .activityEnded(let ended): "ended \(ended.token.prefix(6))"
        }
    }
}
