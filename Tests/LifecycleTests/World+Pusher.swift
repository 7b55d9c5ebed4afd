import APNSClient
import Shared
import Stage

@testable import APNSPusher
@testable import Agent
@testable import TokenRegistry

/// What the pusher's process has in hand: all of it is gone when it ends.
struct ModelPusher {
    struct Running {
        let deviceID: String
        var work: StepWork
        var tries: PushTries?
        /// The card that this step starts.
        let startKey: String?
        /// When leave was asked for.
        var askedAt: Timestamp?
    }

    struct Lane {
        let event: CloudEvent<DesiredIsland>
        var steps: [Running]
    }

    var lanes: [String: Lane] = [:]
    /// Questions that no answer was heard to, and the names they were asked under.
    var openStarts: [String: String] = [:]
}

extension World {
    static func key(_ deviceID: String, _ sessionID: String, _ generation: Int) -> String {
        "\(deviceID) \(sessionID).\(generation)"
    }

    /// One step of one device's push in a user's lane.
    func stepPusher(_ handle: String) {
        guard var lane = pusher.lanes[handle] else { return beginLane(handle) }
        let open = lane.steps.indices.filter { if case .finish = lane.steps[$0].work.next { false } else { true } }
        guard let index = random.pick(Array(open)) else { return finishLane(handle, lane) }
        act(&lane.steps[index], lane.event)
        pusher.lanes[handle] = lane
    }

    private func beginLane(_ handle: String) {
        guard var queue = islands[handle], !queue.isEmpty else { return }
        while queue.count > 1, IslandPusher.isSuperseded(queue[0], by: Array(queue.dropFirst())), random.onceIn(2) {
            queue.removeFirst()
        }
        islands[handle] = queue
        let desired = queue[0].data
        guard let record = lookup(desired.handle) else { return }
        do {
            let kind = try IslandKind.named(desired.attributesType)
            let builder = PushBuilder(desired: desired, kind: kind, defaultBundleID: "com.example.coach")
            let plan = IslandPlan(desired, record)
            note("pusher plans \(plan.steps.map(\.label)) for \(desired.label)")
            let steps = try plan.steps.map { step in
                if step.isStartOrUpdate, let deviceID = step.deviceID,
                    confirmedDismissals.contains("\(deviceID) \(desired.sessionID)")
                {
                    complain("a push to \(deviceID) after a dismissal in \(desired.sessionID)")
                }
                let key = step.isStart ? step.deviceID.map { Self.key($0, desired.sessionID, desired.generation) } : nil
                return ModelPusher.Running(
                    deviceID: step.deviceID ?? "-", work: try StepWork(step, builder, now: now.secondsSince1970),
                    startKey: key)
            }
            pusher.lanes[handle] = ModelPusher.Lane(event: queue[0], steps: steps)
        } catch {
            complain("parked: \(error)")
            islands[handle]?.removeFirst()
        }
    }

    private func finishLane(_ handle: String, _ lane: ModelPusher.Lane) {
        pusher.lanes[handle] = nil
        for step in lane.steps {
            guard case .finish(let verdict) = step.work.next else { continue }
            switch verdict {
            case .done: break
            case .park(let reason): complain("parked: \(reason)")
            // Handed back: the same message comes again.
            case .handBack: return
            }
        }
        // The process may end before its acknowledgement is heard.
        if fails(onceIn: 12) { return crashPusher() }
        islands[handle]?.removeFirst()
    }

    private func act(_ step: inout ModelPusher.Running, _ event: CloudEvent<DesiredIsland>) {
        switch step.work.next {
        case .finish: return
        case .ask(let start):
            step.askedAt = now
            if let answer = ask(start) { step.work.answered(answer) }
        case .push(let push): attempt(push, &step, event)
        case .tell(let command):
            commands.append(command)
            // The broker has it, but its confirm was lost: it is sent again.
            if !fails(onceIn: 10) { step.work.told() }
        }
    }

    private func ask(_ start: RegistryStart) -> RegistryStartAnswer? {
        let name = "\(start)"
        let request = pusher.openStarts[name] ?? freshID("q")
        pusher.openStarts[name] = request
        guard !fails(onceIn: 12) else { return nil }
        let id = registry.freshID()
        let answerIsLost = fails(onceIn: 12)
        let wasAsked = registry.users[start.userID]?.cards.contains { $0.isOfStart(start) } ?? false
        let verdict = registry.change(start.userID, at: now, follows: !answerIsLost) { user, now in
            user.grantStart(start, request: request, id: id, at: now)
        }
        if verdict == .granted {
            lastLeaves[Self.key(start.deviceID, start.sessionID, start.generation)] = now
        }
        if verdict == .granted, wasAsked { happened["a start was granted anew", default: 0] += 1 }
        note("registry: start of \(start.deviceID) \(start.sessionID.suffix(4)).\(start.generation) is \(verdict)")
        guard !answerIsLost else { return nil }
        pusher.openStarts[name] = nil
        return RegistryStartAnswer(isGranted: verdict == .granted, reason: nil, grant: request)
    }

    private func attempt(
        _ push: StepWork.Push, _ step: inout ModelPusher.Running, _ event: CloudEvent<DesiredIsland>
    ) {
        if push.event == .start {
            if let askedAt = step.askedAt, now >= askedAt + .seconds(PushDelivery.startPatience) {
                return finish(&step, .notNow(reason: "too late for a start", pause: .zero))
            }
            if let key = step.startKey {
                checkStart(key, event.data)
                // What the registry has heard was of the start before this one, for another installation of the app.
                knownStarts.remove(key)
            }
        }
        var tries = step.tries ?? PushTries(push, fallback: .production)
        let fault = nextFault()
        let result = apns.send(push.request, to: tries.target, fault: fault, at: now)
        note("push \(push.event) to \(push.request.token.prefix(6)) at \(tries.target): \(result.label)")
        noteLoss(push, step, fault)
        let next: PushTries.Next
        switch result {
        case .answer(let answer): next = tries.answered(answer, now: now)
        case .noAnswer(let wasSent): next = tries.failed("no answer", wasSent: wasSent)
        }
        step.tries = tries
        switch next {
        case .again, .renewToken: break
        case .pause:
            let later = islands[event.data.handle]?.dropFirst() ?? []
            if push.event != .start, IslandPusher.isSuperseded(event, by: Array(later)) {
                finish(&step, .superseded)
            } else if fails(onceIn: 8) {
                finish(&step, .notNow(reason: "enough", pause: .zero))
            }
        case .finished(let outcome): finish(&step, outcome)
        }
    }

    /// A card is started once: a second start goes out only for a later text, after a while, and never when the registry
    /// has heard that APNs took the first one.
    private func checkStart(_ key: String, _ desired: DesiredIsland) {
        guard let last = apns.lastStarts[key], let device = devices[String(key.prefix { $0 != " " })],
            device.tokensChangedAt.map({ $0 < last.at }) ?? true
        else { return }
        if knownStarts.contains(key) { complain("a start that APNs has taken goes out again: \(key)") }
        if desired.timestamp <= last.timestamp { complain("a start goes out again for the same state: \(key)") }
        if desired.receivedAt == nil { complain("a start goes out again without a text: \(key)") }
        if now < last.at + .seconds(20) { complain("a start goes out again at once: \(key)") }
    }

    private func finish(_ step: inout ModelPusher.Running, _ outcome: PushDelivery.Outcome) {
        step.tries = nil
        step.work.pushed(outcome)
    }

    private func nextFault() -> ModelAPNS.Fault? {
        guard faults.isEmpty else { return faults.removeFirst() }
        return fails(onceIn: 8) ? random.pick(ModelAPNS.Fault.allCases) : nil
    }

    /// What only a launch of the app can repair, or nothing at all.
    private func noteLoss(_ push: StepWork.Push, _ step: ModelPusher.Running, _ fault: ModelAPNS.Fault?) {
        switch fault {
        case .lostAnswer, .lostRequest: noteUntold(push.whenAccepted, step.deviceID)
        case .acceptedAndLost:
            if push.event == .start, let key = step.startKey { lostStarts.insert(key) }
            devices[step.deviceID]?.needsLaunch = true
        case .gone: devices[step.deviceID]?.needsLaunch = true
        default: break
        }
    }

    /// APNs has taken the end of a card of the app's own and the registry will not hear of it: should a session take
    /// the card over now, it is over for that session as if the app had ended it.
    private func noteUntoldEnd(_ step: ModelPusher.Running) {
        var work = step.work
        while case .tell(let command) = work.next {
            noteUntold(command, step.deviceID)
            work.told()
        }
    }

    private func noteUntold(_ command: RegistryCommand?, _ deviceID: String) {
        guard case .activityEnded(let ended) = command, ended.wasUnowned == true else { return }
        let card = registry.users[Self.user]?.cards.first { $0.token == ended.token }
        if let activityID = card?.activityID { devices[deviceID]?.gone.insert(activityID) }
    }

    private func note(kill moment: String) { happened["pusher killed \(moment)", default: 0] += 1 }

    /// The process ends where it is: what it had in hand comes again, and what it remembered is gone.
    func crashPusher() {
        note("pusher crashes")
        for lane in pusher.lanes.values {
            for step in lane.steps {
                switch step.work.next {
                case .finish: continue
                case .push(let push) where push.event == .start: note(kill: "between leave and start")
                case .push: note(kill: "before another push")
                case .tell(.startAccepted): note(kill: "between APNs' answer to a start and the word of it")
                case .tell: note(kill: "before another command")
                case .ask: note(kill: "before leave was asked for")
                }
                noteUntoldEnd(step)
            }
        }
        pusher = ModelPusher()
    }
}

extension ModelAPNS.Result {
    var label: String {
        switch self {
        case .answer(let answer): "\(answer.status) \(answer.reason)"
        case .noAnswer(let wasSent): wasSent ? "no answer" : "not sent"
        }
    }
}

extension DesiredIsland {
    var label: String {
        let what = if case .show(let card) = desired { "show \(card.contentState)" } else { "end" }
        return "\(sessionID.suffix(4)).\(generation) at \(timestamp % 100_000): \(what)"
    }
}

extension IslandPlan.Step {
    var deviceID: String? {
        switch self {
        case .start(let device, _, _, _), .update(let device, _), .adopt(let device, _, _), .end(let device, _):
            device.deviceID
        case .leave: nil
        }
    }

    /// Whether it may lead to a start.
    var isStart: Bool {
        switch self {
        case .start, .adopt: true
        case .update, .end, .leave: false
        }
    }

    var isStartOrUpdate: Bool {
        switch self {
        case .start, .update, .adopt: true
        case .end, .leave: false
        }
    }

    var label: String {
        switch self {
        case .start(_, _, let older, _): "start of \(deviceID ?? "") then end \(older.count)"
        case .update(_, let card): "update \(card.token?.prefix(6) ?? "")"
        case .adopt(_, let card, _): "adopt \(card.token?.prefix(6) ?? "")"
        case .end(_, let card): "end \(card.token?.prefix(6) ?? "")"
        case .leave(let reason): "leave \(reason)"
        }
    }
}

extension TokenRegistry.Card {
    fileprivate func isOfStart(_ start: RegistryStart) -> Bool {
        state == .starting && deviceID == start.deviceID && sessionID == start.sessionID
            && generation == start.generation
    }
}
