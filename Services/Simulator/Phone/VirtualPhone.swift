import Crypto
import Foundation
import Runtime
import Shared

/// An iPhone with the app on it, as far as Live Activities go: a state machine that has no clock and does no work.
///
/// Every event returns what the phone does next; the owner does it. The rules are Apple's, from "Starting and updating
/// Live Activities with ActivityKit push notifications" and "Displaying live data with Live Activities", and from what
/// was seen in the field where those are silent.
struct VirtualPhone: Sendable {
    /// A Live Activity is active for eight hours at most.
    static let lifetime: TimeInterval = 8 * 3600
    /// An ended card stays on the Lock Screen for four hours at most.
    static let lingering: TimeInterval = 4 * 3600
    /// Timestamps further ahead than this are not taken.
    static let furthestAhead: TimeInterval = 8 * 3600
    /// Push-to-start has a budget of its own, about ten in a short time.
    static let startBudget = 10
    static let startBudgetPeriod: TimeInterval = 3600
    /// The most live cards of one app.
    static let mostCards = 5
    /// Dropped pushes and removed cards that are remembered.
    static let memory = 200

    enum System: Int, Sendable, Equatable { case iOS17 = 17, iOS18 = 18 }

    enum AppState: String, Sendable, Equatable { case foreground, background, forceQuit = "force-quit" }

    /// Where the phone is, and what its user reads in: the app tells the registry.
    struct Place: Sendable, Equatable {
        var timeZone = TimeZone.current
        var locale = Locale(identifier: "en_US")
    }

    let deviceID: String
    let userID: String
    let place: Place
    var system: System
    private(set) var app: AppState = .background
    private(set) var isOnline = true
    /// By attributes type.
    private(set) var startTokens: [String: String] = [:]
    private(set) var cards: [Card] = []
    private(set) var dropped: [DroppedPush] = []
    /// How many were dropped in all.
    private(set) var droppedCount = 0
    /// What the phone made of the pushes since somebody last asked.
    private var heard: [HeardPush] = []
    /// The one notification that APNs keeps for an app on a phone that it cannot reach.
    private(set) var stored: Push?
    /// Activities that this phone no longer has, and why: "dismissed", "ended".
    private(set) var removed: [String] = []

    private let kinds: [IslandKind]
    private var starts: [Date] = []
    private var serial = 0
    /// What the app has to say once the phone is online again.
    private var waiting: [PhoneAction] = []
    private let attributesTypes: [String]

    /// - Parameters:
    ///   - attributesTypes: What the app registers push-to-start tokens for.
    ///   - kinds: The attributes types that the app's build contains.
    init(
        deviceID: String, userID: String, system: System = .iOS18, place: Place = Place(), attributesTypes: [String],
        kinds: [IslandKind] = IslandKind.all
    ) {
        self.deviceID = deviceID
        self.userID = userID
        self.place = place
        self.system = system
        self.attributesTypes = attributesTypes
        self.kinds = kinds
    }

    /// The card that the Island shows: of the live ones the most relevant, and of equals the one started first.
    var island: Card? {
        guard app != .foreground else { return nil }
        var best: Card?
        for card in cards where card.isLive {
            if let shown = best, card.relevanceScore <= shown.relevanceScore { continue }
            best = card
        }
        return best
    }

    /// When `pass(at:)` has something to do next.
    var nextChange: Date? {
        cards.compactMap { card in
            switch card.phase {
            case .active: min(card.staleDate ?? .distantFuture, card.startedAt + Self.lifetime)
            case .stale: card.startedAt + Self.lifetime
            case .ended(let removal): removal
            }
        }.min()
    }

    /// What a token of this phone is for.
    enum Purpose: Equatable { case start(attributesType: String), update(activityID: String) }

    func purpose(of token: String) -> Purpose? {
        if let type = startTokens.first(where: { $0.value == token })?.key { return .start(attributesType: type) }
        return cards.first { $0.token == token }.map { .update(activityID: $0.activityID) }
    }

    /// Time goes on: cards turn stale, reach their eight hours, and leave the Lock Screen.
    mutating func pass(at now: Date) -> [PhoneAction] {
        var actions: [PhoneAction] = []
        for index in cards.indices where cards[index].isLive {
            if now >= cards[index].startedAt + Self.lifetime {
                actions += end(index, removal: cards[index].startedAt + Self.lifetime + Self.lingering)
            } else if let staleDate = cards[index].staleDate, now >= staleDate {
                cards[index].phase = .stale
            }
        }
        let gone = cards.filter { card in
            if case .ended(let removal) = card.phase { now >= removal } else { false }
        }
        for card in gone { actions += remove(card.activityID) }
        return say(actions)
    }

    // MARK: For the extensions in this folder

    func kind(named name: String) -> IslandKind? { kinds.first { $0.attributesType == name } }

    mutating func drop(_ push: Push, _ event: String, _ reason: String, at now: Date) {
        dropped.append(DroppedPush(at: now, apnsID: push.apnsID, event: event, reason: reason))
        droppedCount += 1
        if dropped.count > Self.memory { dropped.removeFirst() }
        hear(push, .dropped(reason: reason))
    }

    mutating func hear(_ push: Push, _ outcome: HeardPush.Outcome) {
        heard.append(HeardPush(apnsID: push.apnsID, outcome: outcome))
        if heard.count > Self.memory { heard.removeFirst() }
    }

    /// What the phone made of the pushes since this was last called.
    mutating func takeHeard() -> [HeardPush] {
        defer { heard = [] }
        return heard
    }

    mutating func change(_ index: Int, _ body: (inout Card) -> Void) { body(&cards[index]) }

    mutating func add(_ card: Card) { cards.append(card) }

    /// Takes the card off the phone.
    ///
    /// Its token is worth nothing from then on.
    mutating func remove(_ activityID: String) -> [PhoneAction] {
        guard let index = cards.firstIndex(where: { $0.activityID == activityID }) else { return [] }
        let card = cards.remove(at: index)
        removed.append(activityID)
        if removed.count > Self.memory { removed.removeFirst() }
        guard let token = card.token else { return [] }
        return [.died(token: token, reason: .expired)]
    }

    /// The activity is over; pushes to it are ignored from now on.
    ///
    /// A running app tells the registry.
    mutating func end(_ index: Int, removal: Date) -> [PhoneAction] {
        cards[index].phase = .ended(removal: removal)
        var actions: [PhoneAction] = []
        if let token = cards[index].token { actions.append(.died(token: token, reason: .expired)) }
        if app != .forceQuit {
            actions.append(.removeActivity(activityID: cards[index].activityID, reason: .ended))
        }
        return actions
    }

    /// A start is paid for out of the budget; false if there is none left.
    mutating func spendStart(at now: Date) -> Bool {
        starts.removeAll { now.timeIntervalSince($0) >= Self.startBudgetPeriod }
        guard starts.count < Self.startBudget else { return false }
        starts.append(now)
        return true
    }

    /// The app can only speak while the phone is online; what it has to say waits until then.
    mutating func say(_ actions: [PhoneAction]) -> [PhoneAction] {
        guard !isOnline else { return actions }
        var immediate: [PhoneAction] = []
        for action in actions {
            switch action {
            case .issued, .died: immediate.append(action)
            default: waiting.append(action)
            }
        }
        return immediate
    }

    mutating func store(_ push: Push?) { stored = push }

    mutating func setApp(_ state: AppState) { app = state }

    mutating func setOnline(_ online: Bool) -> [PhoneAction] {
        isOnline = online
        defer { if online { waiting = [] } }
        return online ? waiting : []
    }

    /// Gives each kind a new push-to-start token, and an old one its end.
    mutating func renewStartTokens(_ death: TokenDeath) -> [PhoneAction] {
        var actions: [PhoneAction] = []
        for type in attributesTypes {
            if let old = startTokens[type] { actions.append(.died(token: old, reason: death)) }
            let token = freshToken()
            startTokens[type] = token
            actions.append(.issued(token: token))
            actions.append(.registerStartToken(attributesType: type, token: token))
        }
        return actions
    }

    /// Gives the card a new update token, and its old one its end.
    mutating func renewToken(ofCardAt index: Int) -> [PhoneAction] {
        var actions: [PhoneAction] = []
        if let old = cards[index].token { actions.append(.died(token: old, reason: .expired)) }
        let token = freshToken()
        cards[index].token = token
        actions.append(.issued(token: token))
        actions.append(.registerActivity(activityID: cards[index].activityID))
        return actions
    }

    /// 80 bytes, as long as the longest tokens seen; apps must not count on any length.
    private mutating func freshToken() -> String {
        serial += 1
        let blocks = (0..<3).flatMap { SHA256.hash(Array("\(deviceID) token \(serial) \($0)".utf8)) }
        return blocks.prefix(80).hexString
    }

    mutating func freshActivityID() -> String {
        serial += 1
        return UUIDFromName.make("activity", "\(deviceID) \(serial)").uuidString
    }
}
