import Foundation

/// A Live Activity on a phone.
struct Card: Sendable, Equatable {
    /// ActivityKit's id of it.
    let activityID: String
    let attributesType: String
    /// JSON, as decoded by the Swift type.
    let attributes: [UInt8]
    /// From the attributes; `nil` for a card that the app started without a session.
    let sessionID: String?
    let startedAt: Date
    /// JSON, as decoded by the Swift type: what the Island shows.
    var contentState: [UInt8]
    /// `aps.timestamp` of what it shows.
    var timestamp: Int64
    /// When the phone took what it shows.
    var appliedAt: Date
    var staleDate: Date?
    var relevanceScore: Double
    var phase: Phase
    /// What updates are sent to; `nil` until the app was given it.
    var token: String?

    enum Phase: Sendable, Equatable {
        case active
        case stale
        /// Gone from the Island; it leaves the Lock Screen at `removal`.
        case ended(removal: Date)
    }

    /// Whether the Island may show it.
    var isLive: Bool {
        switch phase {
        case .active, .stale: true
        case .ended: false
        }
    }
}

/// A push that changed nothing on the phone, which Apple tells nobody.
struct DroppedPush: Sendable, Equatable {
    let at: Date
    let apnsID: String
    let event: String
    let reason: String
}

/// What the phone or its app does after something happened, in this order.
enum PhoneAction: Sendable, Equatable {
    case registerStartToken(attributesType: String, token: String)
    case registerActivity(activityID: String)
    case removeActivity(activityID: String, reason: RemovalReason)
    /// The app came up and says what runs.
    case reconcile(running: [String])
    /// APNs takes pushes to it from now on.
    case issued(token: String)
    /// APNs refuses pushes to it from now on.
    case died(token: String, reason: TokenDeath)
}

enum RemovalReason: String, Sendable, Equatable {
    case dismissed
    case ended
}

/// How APNs names the end of a token (410).
enum TokenDeath: String, Sendable, Equatable {
    case expired = "ExpiredToken"
    case unregistered = "Unregistered"
}
