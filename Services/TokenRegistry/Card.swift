import Shared

/// A card on a device: from the decision to start it, over its life, to the memory that it was swiped away.
struct Card: Sendable, Equatable {
    /// The registry's own id of it.
    let id: String
    let deviceID: String
    let attributesType: String
    /// `nil` for a card of the app's own that no session has taken over yet.
    var sessionID: String?
    /// Which card of the session: 0, and one more at each renewal.
    var generation: Int
    var state: RegistryRecord.State
    /// Why it ended; `nil` while it has not.
    var ending: Ending?
    /// The request that was granted it.
    ///
    /// The same request asked again, because its answer got lost, is granted again.
    var startRequest: String?
    /// `aps.timestamp` of the state that the start was granted for.
    var startTimestamp: Int64?
    /// Whether it was granted several times, since nobody knew what had become of it.
    var isStartRepeated = false
    /// Whether APNs is known to have taken the start.
    var isStartAccepted = false
    /// Whether the phone got another push-to-start token after the app had last vouched for the card.
    ///
    /// So it may have been installed anew, without its cards; the next launch tells.
    var isDoubted = false
    /// ActivityKit's id, once the app has reported it.
    var activityID: String?
    var token: String?
    var environment: APNSEnvironment?
    var bundleID: String?
    /// When the app last said that the token is the card's; of a start, when leave was last given for it.
    var registeredAt: Timestamp
    /// Of a start, when leave was first given for it.
    var startedAt: Timestamp
    /// When its state last changed.
    var changedAt: Timestamp

    enum Ending: String, Sendable {
        /// The app said so.
        case app
        /// Our end push was accepted.
        case push
        /// APNs said that the token is dead.
        case deadToken = "dead-token"
        /// It was not among those that run when the app was launched.
        case notRunning = "not-running"
        /// A newer card shows the same.
        case duplicate
        /// Its token is another card's or another user's now.
        case moved
        /// The session's card was swiped away before this one was reported.
        case sessionDismissed = "session-dismissed"
    }

    /// ActivityKit's limit: the system ends a card after eight hours.
    static let longestLife: Int64 = 8 * 3_600_000
    /// How long, in milliseconds, the token of a start is waited for whose outcome nobody knows: the pusher is done with a
    /// start 55 s after its leave, sent or not, and the phone has its token seconds later.
    static let tokenGrace: Int64 = 60_000
    /// How long, in milliseconds, after its report a card is not doubted for another push-to-start token: iOS was seen to
    /// make one right after each start.
    static let vouchedFor: Int64 = 60_000

    var isOpen: Bool { state == .starting || state == .live }

    /// Whether the app may bring it back by reporting it: the end was only inferred, not told.
    var canComeBack: Bool { state == .ended && (ending == .deadToken || ending == .notRunning) }

    mutating func end(_ ending: Ending, at now: Timestamp) {
        state = .ended
        self.ending = ending
        changedAt = now
    }

    mutating func goLive(at now: Timestamp) {
        if state != .live { changedAt = now }
        state = .live
        ending = nil
        isDoubted = false
    }

    /// Whether it is the newer of two cards of one session.
    func isNewer(than other: Card) -> Bool {
        (generation, startedAt, registeredAt) > (other.generation, other.startedAt, other.registeredAt)
    }

    var record: RegistryRecord.Activity {
        RegistryRecord.Activity(
            attributesType: attributesType, sessionID: sessionID, generation: generation, state: state,
            activityID: activityID, token: token, environment: environment, bundleID: bundleID,
            registeredAt: registeredAt, startedAt: startedAt,
            isStartUnknown: state == .starting && !isStartAccepted ? true : nil)
    }
}
