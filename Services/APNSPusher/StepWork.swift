import Shared
import Stage

/// One step of a plan on its way: what to do next, and what follows from what came of it.
///
/// It sends nothing itself, so every order of events, and an end between any two of them, can be tried out.
struct StepWork: Sendable {
    enum Action: Sendable {
        /// Ask the registry for leave to start a card, or to take over one that the app started.
        case ask(RegistryStart)
        case push(Push)
        case tell(RegistryCommand)
        case finish(Verdict)
    }

    /// A push, and what its answer is to be judged by.
    struct Push: Sendable {
        enum Event: String, Sendable { case start, update, end }

        let event: Event
        let request: PushRequest
        /// Where the token belongs, if that is known.
        let environment: APNSEnvironment?
        /// When the registry last heard that the token is good.
        let registeredAt: Timestamp
        /// The command that an accepted push has to be followed by.
        var whenAccepted: RegistryCommand?
    }

    private let userID: String
    /// The start that this step is about.
    private let start: RegistryStart?
    /// Pushes for the cards that end once a start was accepted.
    private let ends: [Push]
    private var actions: [Action]
    private var verdict = Verdict.done

    var next: Action { actions.first ?? .finish(verdict) }

    /// - Parameter now: UNIX seconds.
    /// - Throws: `ContentStateError` for a state that cannot be pushed.
    init(_ step: IslandPlan.Step, _ builder: PushBuilder, now: Int64) throws {
        let desired = builder.desired
        userID = desired.userID
        switch (step, desired.desired) {
        case (.start(let device, let token, let older), .show(let card)):
            let start = desired.start(on: device)
            let push = Push(
                event: .start, request: try builder.start(token, card, now: now), environment: token.environment,
                registeredAt: token.registeredAt)
            self.start = start
            ends = try older.map { try Self.end($0, on: device, builder, now: now) }
            actions = [.ask(start), .push(push)]
        case (.adopt(let device, let activity), .show(let card)):
            start = nil
            ends = []
            actions = [
                .ask(desired.start(on: device)), .push(try Self.update(activity, card, builder, now: now)),
            ]
        case (.update(_, let activity), .show(let card)):
            start = nil
            ends = []
            actions = [.push(try Self.update(activity, card, builder, now: now))]
        case (.end(let device, let activity), _):
            start = nil
            ends = []
            actions = [.push(try Self.end(activity, on: device, builder, now: now))]
        case (.leave, _), (.start, .end), (.adopt, .end), (.update, .end):
            start = nil
            ends = []
            actions = []
        }
    }

    private static func update(
        _ activity: RegistryRecord.Activity, _ card: DesiredIsland.Card, _ builder: PushBuilder, now: Int64
    ) throws -> Push {
        Push(
            event: .update, request: try builder.update(activity, card, now: now), environment: activity.environment,
            registeredAt: activity.registeredAt)
    }

    private static func end(
        _ activity: RegistryRecord.Activity, on device: RegistryRecord.Device, _ builder: PushBuilder, now: Int64
    ) throws -> Push {
        let request = try builder.end(activity, now: now)
        return Push(
            event: .end, request: request, environment: activity.environment, registeredAt: activity.registeredAt,
            whenAccepted: .activityEnded(
                RegistryCommand.ActivityEnded(
                    userID: builder.desired.userID, deviceID: device.deviceID,
                    attributesType: activity.attributesType, token: request.token)))
    }

    /// The registry has answered the question that was `next`.
    mutating func answered(_ answer: RegistryStartAnswer) {
        actions.removeFirst()
        // A card that is taken over is updated whether the registry noted that now or before.
        if start != nil, !answer.isGranted { actions = [] }
    }

    /// The command that was `next` is with the broker.
    mutating func told() { actions.removeFirst() }

    /// The push that was `next` has come to `outcome`.
    mutating func pushed(_ outcome: PushDelivery.Outcome) {
        guard case .push(let push) = next else { return }
        actions.removeFirst()
        switch outcome {
        case .accepted(let environment):
            var follow: [Action] = []
            if environment != push.environment {
                follow.append(
                    .tell(
                        .environmentLearned(
                            RegistryCommand.EnvironmentLearned(
                                userID: userID, token: push.request.token, environment: environment))))
            }
            if let command = push.whenAccepted { follow.append(.tell(command)) }
            if push.event == .start { follow += ends.map(Action.push) }
            actions = follow + actions
        case .tokenDead(let at, let reason):
            // The dead token goes first: once the fence is lifted, only another one may be tried.
            let dead = RegistryCommand.TokenDead(userID: userID, token: push.request.token, at: at, reason: reason)
            actions = [.tell(.tokenDead(dead))] + lifted(push) + actions
        case .refused(let reason): stop(push, .park(reason: "APNs refused the \(push.event.rawValue): \(reason)"))
        case .notNow(_, let pause): stop(push, .handBack(retryAfter: pause))
        // A start that may have been taken is not sent again, and its fence stays.
        case .unknown, .superseded: break
        }
    }

    private mutating func stop(_ push: Push, _ verdict: Verdict) {
        self.verdict = verdict
        actions = lifted(push)
    }

    /// Tells the registry that APNs has not taken the start.
    private func lifted(_ push: Push) -> [Action] {
        guard push.event == .start, let start else { return [] }
        return [.tell(.startRefused(start))]
    }
}

extension DesiredIsland {
    fileprivate func start(on device: RegistryRecord.Device) -> RegistryStart {
        RegistryStart(
            userID: userID, deviceID: device.deviceID, attributesType: attributesType, sessionID: sessionID,
            generation: generation)
    }
}
