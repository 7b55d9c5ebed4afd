import APNSClient
import Shared

/// Makes the pushes of a desired Island.
struct PushBuilder: Sendable {
    let desired: DesiredIsland
    let kind: IslandKind
    let defaultBundleID: String
    var traceparent: String?

    /// A push-to-start.
    ///
    /// The session's id goes along in the attributes: the app reports it with the card's update token.
    func start(_ token: RegistryRecord.StartToken, _ card: DesiredIsland.Card, now: Int64) throws -> PushRequest {
        let body = try PushBody.start(
            timestamp: desired.timestamp, contentState: Array(card.contentState.utf8),
            attributesType: kind.attributesType,
            attributes: kind.attributes(userID: desired.userID, sessionID: desired.sessionID),
            alert: card.alert ?? kind.startAlert, staleDate: card.staleDate, relevanceScore: card.relevanceScore,
            asksForUpdateToken: token.wantsInputPushToken)
        return PushRequest(
            token: token.token, bundleID: token.bundleID ?? defaultBundleID, priority: 10,
            expiration: Expiration.start(now: now), collapseID: "\(desired.sessionID).\(desired.generation)",
            traceparent: traceparent, body: body)
    }

    func update(_ activity: RegistryRecord.Activity, _ card: DesiredIsland.Card, now: Int64) throws -> PushRequest {
        let body = try PushBody.update(
            timestamp: desired.timestamp, contentState: Array(card.contentState.utf8), staleDate: card.staleDate,
            alert: card.alert, relevanceScore: card.relevanceScore)
        let expiration = Expiration.update(now: now, staleDate: card.staleDate, priority: desired.priority)
        return push(to: activity, priority: desired.priority, expiration: expiration, body)
    }

    /// The end of a card: with the desired ending's last words, or at once where another card takes over.
    ///
    /// Nothing comes after it, so its timestamp may be as late as it likes: a card that the app started itself would
    /// drop one that is older than the card.
    func end(_ activity: RegistryRecord.Activity, now: Int64) throws -> PushRequest {
        let (contentState, dismissalDate): (String?, Int64?) =
            switch desired.desired {
            case .end(let ending): (ending.contentState, ending.dismissalDate)
            case .show: (nil, now)
            }
        let body = try PushBody.end(
            timestamp: max(desired.timestamp, now), contentState: contentState.map { Array($0.utf8) },
            dismissalDate: dismissalDate)
        let expiration = Expiration.end(now: now, dismissalDate: contentState == nil ? nil : dismissalDate)
        return push(to: activity, priority: 10, expiration: expiration, body)
    }

    private func push(
        to activity: RegistryRecord.Activity, priority: Int, expiration: Int64, _ body: [UInt8]
    ) -> PushRequest {
        PushRequest(
            token: activity.token ?? "", bundleID: activity.bundleID ?? defaultBundleID, priority: priority,
            expiration: expiration, collapseID: nil, traceparent: traceparent, body: body)
    }
}
