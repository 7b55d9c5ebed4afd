import Foundation
import Shared

/// A user as the customer's own people see them: everything, with tokens cut short.
struct UserView: Encodable {
    static let tokenLength = 8

    let userID: String
    let generation: Int64
    let canonicalHandle: String?
    let handles: [String]
    let formerHandles: [String]
    let timeZone: String?
    let locale: String?
    let devices: [Device]

    struct Device: Encodable {
        let deviceID: String
        let startTokens: [StartToken]
        let activities: [Activity]
    }

    struct StartToken: Encodable {
        let attributesType: String
        let token: String
        let environment: APNSEnvironment?
        let bundleID: String?
        let wantsInputPushToken: Bool
        let registeredAt: Timestamp
    }

    struct Activity: Encodable {
        let attributesType: String
        let activityID: String?
        let sessionID: String?
        let generation: Int
        let state: String
        let token: String?
        let environment: APNSEnvironment?
        let bundleID: String?
        let registeredAt: Timestamp
        let startedAt: Timestamp
    }

    init(_ user: User) {
        userID = user.id
        generation = user.generation
        canonicalHandle = user.canonicalHandle?.text
        handles = user.handles.map(\.handle.text)
        formerHandles = user.formerHandles.map(\.text)
        let record = user.record
        timeZone = record.timeZone
        locale = record.locale
        devices = record.devices.map { device in
            Device(
                deviceID: device.deviceID,
                startTokens: device.startTokens.map { token in
                    StartToken(
                        attributesType: token.attributesType, token: Self.short(token.token),
                        environment: token.environment, bundleID: token.bundleID,
                        wantsInputPushToken: token.wantsInputPushToken, registeredAt: token.registeredAt)
                },
                activities: device.activities.map { card in
                    Activity(
                        attributesType: card.attributesType, activityID: card.activityID, sessionID: card.sessionID,
                        generation: card.generation, state: card.state.rawValue, token: card.token.map(Self.short),
                        environment: card.environment, bundleID: card.bundleID, registeredAt: card.registeredAt,
                        startedAt: card.startedAt)
                })
        }
    }

    private static func short(_ token: String) -> String { String(token.prefix(tokenLength)) }
}
