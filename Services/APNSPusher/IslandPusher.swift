import AMQP
import Foundation
import RegistryClient
import Runtime
import Shared
import Stage

/// A desired Island's way to the phones: whose it is, what differs, and one push for each difference.
final class IslandPusher: Sendable {
    typealias Item = StageItem<CloudEvent<DesiredIsland>>

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
    /// One with an alert is not passed over for one without: the light on the screen would be lost.
    static func isSuperseded(_ event: CloudEvent<DesiredIsland>, by later: [CloudEvent<DesiredIsland>]) -> Bool {
        later.contains { newer in
            newer.data.attributesType == event.data.attributesType && newer.data.userID == event.data.userID
                && newer.data.timestamp >= event.data.timestamp && (!event.data.hasAlert || newer.data.hasAlert)
        }
    }

    func handle(_ item: Item) async -> Verdict {
        let desired = item.event.data
        let kind: IslandKind
        do { kind = try IslandKind.named(desired.attributesType) } catch { return .park(reason: "\(error)") }
        let builder = PushBuilder(desired: desired, kind: kind, defaultBundleID: bundleID)
        var failures = 0
        while true {
            do {
                let record = try await registry.lookup(desired.handle)
                return try await carryOut(IslandPlan(desired, record), builder, item)
            } catch let error as ContentStateError {
                return .park(reason: "\(error)")
            } catch {
                failures += 1
                log.warning("island not pushed yet", ["event": item.event.id, "error": "\(error)"])
                guard failures < 8 else { return .handBack(retryAfter: .seconds(5)) }
                guard await item.stop.sleep(for: backoff.delay(after: failures)) else {
                    return .handBack(retryAfter: .zero)
                }
            }
        }
    }

    /// Pushes to all devices side by side; the worst verdict counts.
    private func carryOut(_ plan: IslandPlan, _ builder: PushBuilder, _ item: Item) async throws -> Verdict {
        if plan.steps.isEmpty { counts.left("no_device").increment() }
        return try await withThrowingTaskGroup(of: Verdict.self) { group in
            for step in plan.steps { group.addTask { try await self.carryOut(step, builder, item) } }
            var verdict = Verdict.done
            for try await one in group where one != .done { verdict = one }
            return verdict
        }
    }

    private func carryOut(_ step: IslandPlan.Step, _ builder: PushBuilder, _ item: Item) async throws -> Verdict {
        let now = clock.seconds
        switch (step, builder.desired.desired) {
        case (.start(let device, let token, let older), .show(let card)):
            return try await start(device, token, card, older, builder, item)
        case (.adopt(let device, let activity), .show(let card)):
            _ = try await registry.requestStart(builder.desired.start(on: device))
            return try await send(try builder.update(activity, card, now: now), to: activity, "update", item)
        case (.update(_, let activity), .show(let card)):
            return try await send(try builder.update(activity, card, now: now), to: activity, "update", item)
        case (.end(let device, let activity), _):
            let verdict = try await send(try builder.end(activity, now: now), to: activity, "end", item)
            guard verdict == .done, let token = activity.token else { return verdict }
            try await commands.send(
                .activityEnded(
                    RegistryCommand.ActivityEnded(
                        userID: builder.desired.userID, deviceID: device.deviceID,
                        attributesType: activity.attributesType, token: token)))
            return .done
        case (.leave(let reason), _):
            counts.left(reason.rawValue).increment()
            return .done
        case (.start, .end), (.adopt, .end), (.update, .end): return .done
        }
    }

    /// A push-to-start makes a card each time that it is accepted, so it goes out once: the registry's leave comes first,
    /// and one whose outcome nobody knows is left as it is.
    private func start(
        _ device: RegistryRecord.Device, _ token: RegistryRecord.StartToken, _ card: DesiredIsland.Card,
        _ older: [RegistryRecord.Activity], _ builder: PushBuilder, _ item: Item
    ) async throws -> Verdict {
        let push = try builder.start(token, card, now: clock.seconds)
        let start = builder.desired.start(on: device)
        let leave = try await registry.requestStart(start)
        guard leave.isGranted else {
            counts.left("not_granted").increment()
            log.debug("start not granted", ["reason": leave.reason ?? ""])
            return .done
        }
        let outcome = await delivery.send(
            push, environment: token.environment, fallback: environment, repeatsUnknown: false, stop: item.stop,
            isSuperseded: { false })
        counts.pushed("start", outcome).increment()
        switch outcome {
        case .accepted(let environment):
            note(item)
            try await learn(environment, token.token, token.environment, builder.desired.userID)
            for activity in older {
                let verdict = try await carryOut(.end(device, activity), builder, item)
                guard verdict == .done else { return verdict }
            }
            return .done
        case .tokenDead(let at, let reason):
            try await commands.send(.startRefused(start))
            try await bury(token.token, at, reason, builder.desired.userID)
            return .done
        case .refused(let reason):
            try await commands.send(.startRefused(start))
            return .park(reason: "APNs refused the start: \(reason)")
        case .unknown(let reason):
            log.warning("a start's outcome is not known; it is not sent again", ["reason": reason])
            return .done
        case .superseded: return .done
        case .notNow(_, let pause):
            try await commands.send(.startRefused(start))
            return .handBack(retryAfter: pause)
        }
    }

    private func send(
        _ push: PushRequest, to activity: RegistryRecord.Activity, _ event: String, _ item: Item
    ) async throws -> Verdict {
        let outcome = await delivery.send(
            push, environment: activity.environment, fallback: environment, repeatsUnknown: true, stop: item.stop,
            isSuperseded: item.isSuperseded)
        counts.pushed(event, outcome).increment()
        let userID = item.event.data.userID
        switch outcome {
        case .accepted(let environment):
            note(item)
            try await learn(environment, push.token, activity.environment, userID)
            return .done
        case .tokenDead(let at, let reason):
            try await bury(push.token, at, reason, userID)
            return .done
        case .refused(let reason): return .park(reason: "APNs refused the \(event): \(reason)")
        case .superseded, .unknown: return .done
        case .notNow(_, let pause): return .handBack(retryAfter: pause)
        }
    }

    private func learn(
        _ environment: APNSEnvironment, _ token: String, _ known: APNSEnvironment?, _ userID: String
    ) async throws {
        guard environment != known else { return }
        try await commands.send(
            .environmentLearned(
                RegistryCommand.EnvironmentLearned(userID: userID, token: token, environment: environment)))
    }

    private func bury(_ token: String, _ at: Timestamp, _ reason: String, _ userID: String) async throws {
        try await commands.send(
            .tokenDead(RegistryCommand.TokenDead(userID: userID, token: token, at: at, reason: reason)))
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

    fileprivate func start(on device: RegistryRecord.Device) -> RegistryStart {
        RegistryStart(
            userID: userID, deviceID: device.deviceID, attributesType: attributesType, sessionID: sessionID,
            generation: generation)
    }
}
