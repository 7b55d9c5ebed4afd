import Foundation
import HTTP2
import Runtime
import Shared

/// What APNs' answer to a push means ("Handling notification responses from APNs").
struct APNSAnswer: Sendable, Equatable {
    enum Meaning: Sendable, Equatable {
        /// APNs took it; that says nothing about the phone.
        case accepted
        /// The token is of the other environment, or of none.
        case wrongEnvironment
        /// The token is dead since `at`.
        case tokenDead(at: Timestamp)
        /// It may go through later, not before `after` if that is given.
        case later(after: Duration?)
        /// It may go through at once, over a new connection.
        case newConnection
        /// Our JWT is too old.
        case tokenExpired
        /// Our key, team or clock is not right: nobody's push goes through until a person mends it.
        case denied
        /// A mistake of ours in this push: it never goes through, and a person should know.
        case refused
    }

    let status: Int
    /// APNs' own word, known to us or not; empty for an accepted push.
    let reason: String
    let meaning: Meaning

    private struct Body: Decodable {
        let reason: String?
        /// Milliseconds since 1970, with 410 only.
        let timestamp: Double?
    }

    /// - Parameters:
    ///   - retryAfter: The header of that name, if there is one.
    ///   - now: Stands in where a 410 gives no time.
    init(status: Int, retryAfter: String? = nil, body: [UInt8], now: Timestamp) {
        // A body that is not Apple's JSON leaves the status, which is enough to go by; an accepted push has none.
        let body = body.isEmpty ? nil : try? JSON.decode(Body.self, from: body)
        self.status = status
        reason = body?.reason ?? ""
        let pause = retryAfter.flatMap(Double.init).flatMap {
            $0 > 0 ? Duration.milliseconds(Int(min($0, 3600) * 1000)) : nil
        }
        let deadAt = body?.timestamp.flatMap { Int64(exactly: $0.rounded()) }.map(
            Timestamp.init(millisecondsSince1970:))
        meaning =
            switch (status, reason) {
            case (200, _): .accepted
            case (400, "BadDeviceToken"): .wrongEnvironment
            case (400, "IdleTimeout"), (403, "UnrelatedKeyIdInToken"), (503, "Shutdown"): .newConnection
            case (403, "ExpiredProviderToken"): .tokenExpired
            case (403, _): .denied
            case (410, _): .tokenDead(at: deadAt ?? now)
            // The connection cannot be used with a newer token for a while; the one we have is good on another.
            case (429, Self.tooManyTokens): .newConnection
            case (408, _), (429, _), (500..., _): .later(after: pause)
            default: .refused
            }
    }
}

extension APNSAnswer {
    init(_ response: HTTP2Response, now: Timestamp) {
        self.init(
            status: response.status, retryAfter: response.header("retry-after"), body: response.body, now: now)
    }

    static let tooManyTokens = "TooManyProviderTokenUpdates"

    /// The reasons that Apple lists, and two that were seen besides.
    static let knownReasons: Set<String> = [
        "", "BadCertificate", "BadCertificateEnvironment", "BadCollapseId", "BadDeviceToken",
        "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "BadExpirationDate", "BadMessageId", "BadPath",
        "BadPriority", "BadTopic", "DeviceTokenNotForTopic", "DuplicateHeaders", "ExpiredProviderToken", "ExpiredToken",
        "Forbidden", "IdleTimeout", "InternalServerError", "InvalidProviderToken", "InvalidPushType",
        "MethodNotAllowed", "MissingDeviceToken", "MissingProviderToken", "MissingTopic", "PayloadEmpty",
        "PayloadTooLarge", "ServiceUnavailable", "Shutdown", "TooManyProviderTokenUpdates", "TooManyRequests",
        "TopicDisallowed", "UnrelatedKeyIdInToken", "Unregistered",
    ]
}

/// Remembers the reasons that Apple does not list, so that a person hears of each once.
final class StrangeReasons: Sendable {
    private static let most = 100

    private let seen = Locked<Set<String>>([])

    /// Whether the answer has a reason that is neither listed nor seen before.
    func isNews(_ answer: APNSAnswer) -> Bool {
        guard !APNSAnswer.knownReasons.contains(answer.reason) else { return false }
        return seen.withLock { $0.count < Self.most && $0.insert(answer.reason).inserted }
    }
}
