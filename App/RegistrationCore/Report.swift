public import Foundation
import Shared

/// Something that the app has to tell the registry.
public enum Report: Codable, Sendable, Equatable {
    /// The token that starts a card of this kind.
    case startToken(attributesType: String, token: String)
    /// A running card and the token that updates it.
    case activity(RunningActivity, token: String)
    /// A card is over.
    case gone(RunningActivity, GoneReason)
    /// These run on the device, and no others.
    ///
    /// The answer says which of them the app is to end.
    case running([String])

    /// What the report is about: of two reports about one thing only the newer one matters.
    enum Subject: Hashable, Sendable {
        case startToken(String), activity(String), running
    }

    var subject: Subject {
        switch self {
        case .startToken(let attributesType, _): .startToken(attributesType)
        case .activity(let activity, _), .gone(let activity, _): .activity(activity.id)
        case .running: .running
        }
    }

    /// For people; holds no token.
    var name: String {
        switch self {
        case .startToken(let attributesType, _): "start token of \(attributesType)"
        case .activity(let activity, _): "activity \(activity.id)"
        case .gone(let activity, let reason): "activity \(activity.id) \(reason.rawValue)"
        case .running: "running activities"
        }
    }
}

/// A card as ActivityKit knows it.
public struct RunningActivity: Codable, Sendable, Hashable {
    /// `Activity.id`.
    public let id: String
    public let attributesType: String
    /// From the card's attributes; `nil` for a card that the app itself started.
    public let sessionID: String?
    /// When it came up, if the app saw that.
    public let startedAt: Date?

    public init(id: String, attributesType: String, sessionID: String?, startedAt: Date? = nil) {
        self.id = id
        self.attributesType = attributesType
        self.sessionID = sessionID
        self.startedAt = startedAt
    }
}

/// Why a card is over.
public enum GoneReason: String, Codable, Sendable, Equatable {
    /// The user swiped it away.
    case dismissed
    case ended
}

/// Where a card is in its life.
public enum ActivityPhase: Sendable, Equatable {
    case active, ended, dismissed
}

/// One HTTP call to the registry, without its credential.
struct RegistryCall: Equatable {
    let method: String
    /// With a leading slash, percent-encoded.
    let target: String
    let body: Data?

    /// - Parameter deviceID: This installation of the app.
    init(_ report: Report, _ configuration: RegistrationConfiguration, deviceID: String) throws {
        let device = "/v1/users/\(Self.segment(configuration.userID))/devices/\(Self.segment(deviceID))"
        var body = Body()
        switch report {
        case .startToken(let attributesType, let token):
            method = "PUT"
            target = device + "/start-token"
            body.attributesType = attributesType
            body.token = token
            body.wantsInputPushToken = configuration.wantsInputPushToken
            body.timeZone = configuration.timeZone.identifier
            body.locale = Self.name(of: configuration.locale)
        case .activity(let activity, let token):
            method = "PUT"
            target = device + "/activities/\(Self.segment(activity.id))"
            body.attributesType = activity.attributesType
            body.token = token
            body.sessionID = activity.sessionID
            body.startedAt = activity.startedAt.map { Timestamp($0) }
        case .gone(let activity, let reason):
            method = "DELETE"
            let session = activity.sessionID.map { "&sessionID=\(Self.segment($0))" } ?? ""
            target = device + "/activities/\(Self.segment(activity.id))?reason=\(reason.rawValue)\(session)"
            self.body = nil
            return
        case .running(let ids):
            method = "PUT"
            target = device + "/activities"
            self.body = try JSONEncoder().encode(["running": ids])
            return
        }
        body.environment = configuration.environment
        body.bundleID = configuration.bundleID
        self.body = try JSONEncoder().encode(body)
    }

    private struct Body: Encodable {
        var attributesType: String?
        var token: String?
        var sessionID: String?
        var environment: APNSEnvironment?
        var bundleID: String?
        var wantsInputPushToken: Bool?
        var startedAt: Timestamp?
        var timeZone: String?
        var locale: String?
    }

    /// The locale without what follows "@": keywords, with which it may be longer than the registry takes.
    private static func name(of locale: Locale) -> String? {
        let name = locale.identifier.prefix { $0 != "@" }
        return name.isEmpty ? nil : String(name)
    }

    /// The text as one segment of a path or one value of a query.
    private static func segment(_ text: String) -> String {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        // Only text that is not valid Unicode cannot be encoded, and a Swift String is always valid.
        return text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? text
    }
}
