import Foundation
import Runtime
import Shared

/// All the virtual phones: who has which, which token is whose, and the work that the phones want done.
final class Phones: Sendable {
    /// Dead tokens that are remembered; when there are more, all become unknown ones.
    private static let mostDeadTokens = 500_000

    /// Where a token stands with APNs.
    enum Standing: Sendable, Equatable {
        case unknown
        case alive(APNSEnvironment)
        case dead(TokenDeath, since: Date)
    }

    private struct State {
        var phones: [String: VirtualPhone] = [:]
        var devicesOfUser: [String: [String]] = [:]
        var userOfHandle: [String: String] = [:]
        var handlesOfUser: [String: [String]] = [:]
        var deviceOfToken: [String: String] = [:]
        var deadTokens: [String: (death: TokenDeath, since: Date, deviceID: String)] = [:]
        var environments: [String: APNSEnvironment] = [:]
        /// How far the phones' clocks are ahead of ours.
        var ahead: TimeInterval = 0
        var figures = Figures()
    }

    struct Figures: Sendable, Encodable {
        var pushes = 0
        var applied = 0
        var dropped = 0
        var droppedByReason: [String: Int] = [:]
    }

    private let state = Locked(State())
    private let app: AppClient
    private let trails: Trails
    private let settings: PhoneSettings
    private let clock: WallClock
    /// Told the user whose phone changed.
    private let changed: @Sendable (String) -> Void

    init(
        app: AppClient, settings: PhoneSettings, trails: Trails, clock: WallClock,
        changed: @escaping @Sendable (String) -> Void
    ) {
        self.app = app
        self.trails = trails
        self.settings = settings
        self.clock = clock
        self.changed = changed
    }

    /// The phones' time.
    var now: Date { state.withLock { clock.now + $0.ahead } }

    func userID(of handle: String) -> String? { state.withLock { $0.userOfHandle[handle] } }

    func phones(of userID: String) -> [VirtualPhone] {
        state.withLock { state in (state.devicesOfUser[userID] ?? []).compactMap { state.phones[$0] } }
    }

    func phone(_ deviceID: String) -> VirtualPhone? { state.withLock { $0.phones[deviceID] } }

    /// Whose token it is, or was: of a dead one that is known only as long as APNs tells that it died.
    func owner(ofToken token: String) -> String? {
        state.withLock { state in
            (state.deviceOfToken[token] ?? state.deadTokens[token]?.deviceID).flatMap { state.phones[$0]?.userID }
        }
    }

    func handles(of userID: String) -> [String] { state.withLock { $0.handlesOfUser[userID] ?? [] } }

    var users: [String] { state.withLock { $0.handlesOfUser.keys.sorted() } }

    var figures: Figures { state.withLock { $0.figures } }

    func resetFigures() { state.withLock { $0.figures = Figures() } }

    /// How many users, phones, and phones whose Island shows something.
    var census: (users: Int, phones: Int, islands: Int) {
        state.withLock { state in
            (state.handlesOfUser.count, state.phones.count, state.phones.values.count { $0.island != nil })
        }
    }

    // MARK: Users and devices

    /// Makes a user with these handles, and tells the registry as the customer's backend would.
    func addUser(_ userID: String, handles: [String]) async throws {
        let known = self.handles(of: userID)
        // The registry first: somebody whom it did not take is not on board, and the next text tries again.
        try await app.register(handles: known + handles.filter { !known.contains($0) }, of: userID)
        state.withLock { state in
            for handle in handles {
                if let other = state.userOfHandle[handle], other != userID {
                    state.handlesOfUser[other]?.removeAll { $0 == handle }
                }
                state.userOfHandle[handle] = userID
                if state.handlesOfUser[userID]?.contains(handle) != true {
                    state.handlesOfUser[userID, default: []].append(handle)
                }
            }
        }
    }

    /// Gives the user a phone with the app on it, and waits until the app has registered.
    func addPhone(
        _ deviceID: String, of userID: String, system: VirtualPhone.System, environment: APNSEnvironment,
        place: VirtualPhone.Place = VirtualPhone.Place()
    ) async throws {
        state.withLock { state in
            guard state.phones[deviceID] == nil else { return }
            state.phones[deviceID] = VirtualPhone(
                deviceID: deviceID, userID: userID, system: system, place: place,
                attributesTypes: settings.attributesTypes)
            state.devicesOfUser[userID, default: []].append(deviceID)
            state.environments[deviceID] = environment
        }
        try perform(on: deviceID) { phone, _ in phone.startTokens.isEmpty ? phone.onboard() : [] }
        await app.waitUntilSaid(by: deviceID, within: .seconds(10))
    }

    // MARK: Pushes

    func standing(of token: String) -> Standing {
        state.withLock { state in
            if let device = state.deviceOfToken[token] {
                return .alive(state.environments[device] ?? settings.environment)
            }
            if let dead = state.deadTokens[token] { return .dead(dead.death, since: dead.since) }
            return .unknown
        }
    }

    /// Hands a push that APNs accepted to its phone.
    func deliver(_ push: Push) {
        guard let deviceID = state.withLock({ $0.deviceOfToken[push.token] }) else { return }
        _ = run(on: deviceID) { phone, now, figures in
            let droppedBefore = phone.droppedCount
            let actions = phone.receive(push, at: now)
            figures.pushes += 1
            if phone.droppedCount > droppedBefore, let last = phone.dropped.last {
                figures.dropped += 1
                // What follows the colon differs from push to push.
                figures.droppedByReason[String(last.reason.prefix { $0 != ":" }), default: 0] += 1
            } else if phone.stored != push {
                figures.applied += 1
            }
            return actions
        }
    }

    // MARK: What a person does

    struct NoSuchPhone: Error {}

    /// Lets something happen to a phone and does what the phone wants done.
    func perform(on deviceID: String, _ event: (inout VirtualPhone, Date) throws -> [PhoneAction]) throws {
        guard try run(on: deviceID, { phone, now, _ in try event(&phone, now) }) else { throw NoSuchPhone() }
    }

    /// False if there is no such phone.
    private func run(
        on deviceID: String, _ event: (inout VirtualPhone, Date, inout Figures) throws -> [PhoneAction]
    ) rethrows -> Bool {
        let heard: (userID: String, pushes: [HeardPush])? = try state.withLock { state in
            // Taken out while it changes, so that its lists are not copied.
            guard var phone = state.phones.removeValue(forKey: deviceID) else { return nil }
            defer { state.phones[deviceID] = phone }
            for action in try event(&phone, clock.now + state.ahead, &state.figures) {
                Self.note(action, deviceID, at: clock.now, in: &state)
                // Handed over under the lock, so that what the app says is in the order of what happened.
                say(action, phone, state)
            }
            return (phone.userID, phone.takeHeard())
        }
        guard let heard else { return false }
        for push in heard.pushes { trails.add(push.hop, push: push.apnsID) }
        changed(heard.userID)
        return true
    }

    private func say(_ action: PhoneAction, _ phone: VirtualPhone, _ state: State) {
        let handles = state.handlesOfUser[phone.userID] ?? []
        let environment = state.environments[phone.deviceID] ?? settings.environment
        guard let call = app.call(for: action, phone, handles: handles, environment) else { return }
        let deviceID = phone.deviceID
        app.say(call, by: deviceID) { [weak self] activityIDs in
            _ = self?.run(on: deviceID) { phone, now, _ in phone.endFromApp(activityIDs, at: now) }
        }
    }

    private static func note(_ action: PhoneAction, _ deviceID: String, at now: Date, in state: inout State) {
        switch action {
        case .issued(let token):
            state.deviceOfToken[token] = deviceID
            state.deadTokens[token] = nil
        case .died(let token, let reason):
            state.deviceOfToken[token] = nil
            if state.deadTokens.count >= mostDeadTokens { state.deadTokens = [:] }
            state.deadTokens[token] = (reason, now, deviceID)
        default: break
        }
    }

    // MARK: Time

    /// Moves the phones' clocks ahead.
    func advance(by interval: TimeInterval) {
        state.withLock { $0.ahead += interval }
        pass()
    }

    /// Lets the phones see what time it is.
    ///
    /// To be called about once a second.
    func pass() {
        let due = state.withLock { state in
            let now = clock.now + state.ahead
            return state.phones.values.filter { $0.nextChange.map { $0 <= now } ?? false }.map(\.deviceID)
        }
        for deviceID in due { _ = run(on: deviceID) { phone, now, _ in phone.pass(at: now) } }
    }
}

/// What all the phones have in common.
struct PhoneSettings: Sendable {
    let environment: APNSEnvironment
    /// What the app registers push-to-start tokens for.
    let attributesTypes: [String]
}
