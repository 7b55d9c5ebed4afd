import AMQP
import Foundation
import RegistryClient
import Runtime
import Shared
import Stage

/// A desired Island's way to the phones: whose it is, what differs, and one push for each difference.
final class IslandPusher: Sendable {
    typealias Item = StageItem<CloudEvent<DesiredIsland>>

    /// How often the registry or the broker may fail one after another before the partition goes back to the queue.
    private static let mostFailures = 8
    /// How long a partition rests at the most when nothing gets through.
    private static let longestRest = Duration.seconds(60)

    private let registry: RegistryClient
    private let commands: RegistryCommands
    private let delivery: PushDelivery
    private let bundleID: String
    private let environment: APNSEnvironment
    private let clock: WallClock
    private let log: Log
    private let counts: PusherMetrics
    private let backoff = Backoff()

    init(
        registry: RegistryClient, commands: RegistryCommands, delivery: PushDelivery, bundleID: String,
        environment: APNSEnvironment, clock: WallClock, log: Log, metrics: Metrics
    ) {
        self.registry = registry
        self.commands = commands
        self.delivery = delivery
        self.bundleID = bundleID
        self.environment = environment
        self.clock = clock
        self.log = log
        counts = PusherMetrics(metrics)
    }

    /// Whether a newer state of the same kind waits behind this one.
    ///
    /// One with an alert is not passed over for one without: the light on the screen would be lost. Nor is one for all
    /// devices passed over for one that is for a single device.
    static func isSuperseded(_ event: CloudEvent<DesiredIsland>, by later: [CloudEvent<DesiredIsland>]) -> Bool {
        later.contains { newer in
            newer.data.attributesType == event.data.attributesType && newer.data.userID == event.data.userID
                && newer.data.timestamp >= event.data.timestamp && (!event.data.hasAlert || newer.data.hasAlert)
                && (newer.data.deviceID == nil || newer.data.deviceID == event.data.deviceID)
        }
    }

    func handle(_ item: Item) async -> Verdict {
        let desired = item.event.data
        let kind: IslandKind
        do { kind = try IslandKind.named(desired.attributesType) } catch { return .park(reason: "\(error)") }
        let builder = PushBuilder(
            desired: desired, kind: kind, defaultBundleID: bundleID, traceparent: item.event.traceparent)
        let plan: IslandPlan
        switch await persist(item, { try await self.plan(desired) }) {
        case .success(let made): plan = made
        case .failure(let given): return given.verdict
        }
        do {
            let works = try plan.steps.map { try StepWork($0, builder, now: clock.seconds) }
            count(plan)
            return await carryOut(works, item)
        } catch {
            return .park(reason: "\(error)")
        }
    }

    /// A state for one device alone goes out because the registry has news of that device: where the cache knows of
    /// nothing to be done there, it has not heard of them yet, and nobody would come back to it.
    private func plan(_ desired: DesiredIsland) async throws -> IslandPlan {
        let plan = IslandPlan(desired, try await registry.lookup(desired.handle))
        guard plan.isIdle, desired.deviceID != nil else { return plan }
        return IslandPlan(desired, try await registry.lookup(fresh: desired.handle))
    }

    private func count(_ plan: IslandPlan) {
        if plan.steps.isEmpty { counts.left("no_device").increment() }
        for case .leave(let reason) in plan.steps { counts.left(reason.rawValue).increment() }
    }

    /// Carries all steps out side by side.
    ///
    /// What one device has to try again comes again for all of them, before anything is parked for another.
    private func carryOut(_ works: [StepWork], _ item: Item) async -> Verdict {
        // One device is what nearly everybody has.
        if works.count == 1 { return await carryOut(works[0], item) }
        return await withTaskGroup(of: Verdict.self) { group in
            for work in works { group.addTask { await self.carryOut(work, item) } }
            var verdict = Verdict.done
            for await one in group where one != .done {
                if case .handBack = verdict { continue }
                verdict = one
            }
            return verdict
        }
    }

    private func carryOut(_ step: StepWork, _ item: Item) async -> Verdict {
        var work = step
        var asked = monotonicSeconds()
        while true {
            switch work.next {
            case .finish(.handBack(let pause)) where pause > .zero:
                return .handBack(retryAfter: item.rest(from: pause, upTo: Self.longestRest))
            case .finish(let verdict): return verdict
            case .ask(let start):
                // The same question again gets the same answer, so a leave that nobody heard of is not lost.
                let answer = await persist(item) {
                    (monotonicSeconds(), try await self.registry.requestStart(start))
                }
                switch answer {
                case .success(let (began, answer)):
                    asked = began
                    if !answer.isGranted {
                        counts.left("not_granted").increment()
                        log.debug("start not granted", ["reason": answer.reason ?? ""])
                    }
                    work.answered(answer)
                case .failure(let given): return given.verdict
                }
            case .push(let push): work.pushed(await deliver(push, item, asked))
            case .tell(let command):
                switch await persist(item, { try await self.commands.send(command) }) {
                case .success: work.told()
                case .failure(let given): return given.verdict
                }
            }
        }
    }

    /// - Parameter asked: When leave was asked for, for a start.
    private func deliver(_ push: StepWork.Push, _ item: Item, _ asked: Double) async -> PushDelivery.Outcome {
        let isStart = push.event == .start
        let deadline =
            isStart ? asked + PushDelivery.startPatience : monotonicSeconds() + PushDelivery.patience
        // A start has its leave already, so it is not passed over for a newer state: that could not get one.
        let outcome = await delivery.send(
            push, fallback: environment, until: deadline, stop: item.stop,
            isSuperseded: isStart ? { false } : item.isSuperseded)
        counts.pushed(push.event, outcome).increment()
        switch outcome {
        case .accepted: if push.event != .end { note(item) }
        case .unknown(let reason):
            log.warning("a start's outcome is not known; no other one before a new text", ["reason": reason])
        case .tokenDead, .refused, .superseded, .notNow: break
        }
        return outcome
    }

    /// Why the work on an item was given up for now.
    private struct GivenUp: Error {
        let verdict: Verdict
    }

    /// Does what may fail for a while, until it succeeds or the partition should go back.
    private func persist<Value: Sendable>(
        _ item: Item, _ body: @Sendable () async throws -> Value
    ) async -> Result<Value, GivenUp> {
        var failures = 0
        while true {
            do {
                return .success(try await body())
            } catch {
                failures += 1
                log.warning("island not pushed yet", ["event": item.event.id, "error": "\(error)"])
                guard failures < Self.mostFailures else {
                    let rest = item.rest(from: .seconds(5), upTo: Self.longestRest)
                    return .failure(GivenUp(verdict: .handBack(retryAfter: rest)))
                }
                guard await item.stop.sleep(for: backoff.delay(after: failures)) else {
                    return .failure(GivenUp(verdict: .handBack(retryAfter: .zero)))
                }
            }
        }
    }

    private func note(_ item: Item) {
        guard let receivedAt = item.event.data.receivedAt else { return }
        counts.latency.observe(max(0, clock.now.timeIntervalSince(receivedAt.date)))
    }
}

extension DesiredIsland {
    fileprivate var hasAlert: Bool {
        if case .show(let card) = desired { card.alert != nil } else { false }
    }
}
