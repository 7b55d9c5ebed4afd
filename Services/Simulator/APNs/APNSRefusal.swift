import Foundation

/// Why APNs does not take a push: a status and Apple's own reason ("Handling notification responses from APNs").
struct APNSRefusal: Error, Equatable {
    let status: Int
    let reason: String
    /// Milliseconds since 1970 at which the token died; on 410 only.
    var timestamp: Int64?

    var body: [UInt8] {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\(reason.json)\(time)}".utf8)
    }

    static let badCollapseID = APNSRefusal(status: 400, reason: "BadCollapseId")
    static let badDeviceToken = APNSRefusal(status: 400, reason: "BadDeviceToken")
    static let badExpirationDate = APNSRefusal(status: 400, reason: "BadExpirationDate")
    static let badMessageID = APNSRefusal(status: 400, reason: "BadMessageId")
    static let badPriority = APNSRefusal(status: 400, reason: "BadPriority")
    static let badTopic = APNSRefusal(status: 400, reason: "BadTopic")
    static let topicDisallowed = APNSRefusal(status: 400, reason: "TopicDisallowed")
    static let deviceTokenNotForTopic = APNSRefusal(status: 400, reason: "DeviceTokenNotForTopic")
    static let duplicateHeaders = APNSRefusal(status: 400, reason: "DuplicateHeaders")
    static let invalidPushType = APNSRefusal(status: 400, reason: "InvalidPushType")
    static let missingDeviceToken = APNSRefusal(status: 400, reason: "MissingDeviceToken")
    static let missingTopic = APNSRefusal(status: 400, reason: "MissingTopic")
    static let payloadEmpty = APNSRefusal(status: 400, reason: "PayloadEmpty")
    static let expiredProviderToken = APNSRefusal(status: 403, reason: "ExpiredProviderToken")
    static let invalidProviderToken = APNSRefusal(status: 403, reason: "InvalidProviderToken")
    static let missingProviderToken = APNSRefusal(status: 403, reason: "MissingProviderToken")
    static let badPath = APNSRefusal(status: 404, reason: "BadPath")
    static let methodNotAllowed = APNSRefusal(status: 405, reason: "MethodNotAllowed")
    static let payloadTooLarge = APNSRefusal(status: 413, reason: "PayloadTooLarge")
    static let tooManyRequests = APNSRefusal(status: 429, reason: "TooManyRequests")
    static let tooManyProviderTokenUpdates = APNSRefusal(status: 429, reason: "TooManyProviderTokenUpdates")
    static let internalServerError = APNSRefusal(status: 500, reason: "InternalServerError")
    static let serviceUnavailable = APNSRefusal(status: 503, reason: "ServiceUnavailable")
    static let shutdown = APNSRefusal(status: 503, reason: "Shutdown")

    static func gone(_ death: TokenDeath, since: Date) -> APNSRefusal {
        APNSRefusal(status: 410, reason: death.rawValue, timestamp: Int64(since.timeIntervalSince1970 * 1000))
    }
}
