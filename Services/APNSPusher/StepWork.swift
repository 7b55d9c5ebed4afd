import APNSClient
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
    /// The start that the registry is asked for.
    private var start: RegistryStart?
    /// What follows from leave given.
    private var whenGranted: [Action] = []
    /// What follows from leave not given.
    private var whenDenied: [Action] = []
    /// Pushes for the cards that end once a start was accepted.
    private var ends: [Push] = []
    private var grant: String?
    private var actions: [Action] = []
    private var verdict = Verdict.done

    var next: Action { actions.first ?? .finish(verdict) }

    /// - Parameter now: UNIX seconds.
    /// - Throws: `ContentStateError` for a state that cannot be pushed.
    init(_ step: IslandPlan.Step, _ builder: PushBuilder, now: Int64) throws {
        let desired = builder.desired
        userID = desired.userID
        switch (step, desired.desired) {
        case (.start(let device, let token, let older, let other), .show(let card)):
            whenGranted = [.push(try Self.start(token, card, builder, now: now))]
            ends = try older.map { try Self.end($0, on: device, builder, now: now) }
            whenDenied = try other.map { [.push(try Self.update($0, card, builder, now: now))] } ?? []
            ask(desired.start(on: device))
        case (.adopt(let device, let activity, let token), .show(let card)):
            // Too old a card is not taken over: then the leave is for a new one.
            whenGranted = try token.map { [.push(try Self.start($0, card, builder, now: now))] } ?? []
            ends = [try Self.end(activity, on: device, builder, now: now)]
            whenDenied = [.push(try Self.update(activity, card, builder, now: now))]
            ask(desired.start(on: device))
        case (.update(_, let activity), .show(let card)):
            actions = [.push(try Self.update(activity, card, builder, now: now))]
        case (.end(let device, let activity), _):
            actions = [.push(try Self.end(activity, on: device, builder, now: now))]
        case (.leave, _), (.start, .end), (.adopt, .end), (.update, .end): break
        }
    }

    private mutating func ask(_ start: RegistryStart) {
        self.start = start
        actions = [.ask(start)]
    }

    private static func start(
        _ token: RegistryRecord.StartToken, _ card: DesiredIsland.Card, _ builder: PushBuilder, now: Int64
    ) throws -> Push {
        Push(
            event: .start, request: try builder.start(token, card, now: now), environment: token.environment,
            registeredAt: token.registeredAt)
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
                    attributesType: activity.attributesType, token: request.token,
                    wasUnowned: activity.sessionID == nil ? true : nil)))
    }

    /// The registry has answered the question that was `next`.
    mutating func answered(_ answer: RegistryStartAnswer) {
        grant = answer.grant
        guard answer.isGranted else { return actions = whenDenied }
        // Leave for a start that there was no token for when this was planned: there may be one now.
        actions = whenGranted.isEmpty ? lift(mayRetry: true) : whenGranted
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
            if push.event == .start {
                if let start { follow.append(.tell(.startAccepted(told(start)))) }
                follow += ends.map(Action.push)
            }
            actions = follow + actions
        case .tokenDead(let at, let reason):
            // The dead token goes first: once the fence is lifted, only another one may be tried. It does not go if
            // APNs' news is older than its registration: then a new try would only get the same answer.
            let dead = RegistryCommand.TokenDead(userID: userID, token: push.request.token, at: at, reason: reason)
            actions = [.tell(.tokenDead(dead))] + lifted(push, mayRetry: at < push.registeredAt ? nil : true) + actions
        case .refused(let reason):
            verdict = .park(reason: "APNs refused the \(push.event.rawValue): \(reason)")
            actions = lifted(push, mayRetry: nil)
        case .notNow(_, let pause):
            verdict = .handBack(retryAfter: pause)
            actions = lifted(push, mayRetry: true)
        // A start that may have been taken is not sent again, and its fence stays until the user's next text.
        case .unknown, .superseded: break
        }
    }

    private func lifted(_ push: Push, mayRetry: Bool?) -> [Action] {
        push.event == .start ? lift(mayRetry: mayRetry, token: push.request.token) : []
    }

    /// Tells the registry that there is no card of the start that it gave leave for.
    private func lift(mayRetry: Bool?, token: String? = nil) -> [Action] {
        start.map { [.tell(.startRefused(told($0, mayRetry: mayRetry, token: token)))] } ?? []
    }

    private func told(_ start: RegistryStart, mayRetry: Bool? = nil, token: String? = nil) -> RegistryStart {
        RegistryStart(
            userID: start.userID, deviceID: start.deviceID, attributesType: start.attributesType,
            sessionID: start.sessionID, generation: start.generation, grant: grant, mayRetry: mayRetry, token: token)
    }
}

extension DesiredIsland {
    fileprivate func start(on device: RegistryRecord.Device) -> RegistryStart {
        RegistryStart(
            userID: userID, deviceID: device.deviceID, attributesType: attributesType, sessionID: sessionID,
            generation: generation, timestamp: timestamp, isFromUser: isFromUser ? true : nil)
    }
}
