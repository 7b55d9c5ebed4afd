import AMQP
import APNSClient
import Cache
import Crypto
import Foundation
import RegistryClient
import Runtime
import Shared
import Stage
import Telemetry

/// The settings of `apns-pusher`.
struct APNSPusherSettings: ServiceSettings {
    let broker: AMQPEndpoint?
    let partitions: Int
    let redisURL: Secret<String>?
    let cacheKeys: CacheKeys?
    let metricsListen: ListenAddress
    let teamID: String
    let keyID: String
    let key: ES256PrivateKey?
    let bundleID: String
    /// Where a token goes whose environment nobody has said and that has not been learned yet.
    let environment: APNSEnvironment
    let addresses: APNSAddresses
    let caFile: String?
    let telemetry: TelemetrySettings
    let logLevel: Log.Level

    init(_ settings: inout Settings) {
        broker = settings.broker()
        partitions = settings.partitions()
        redisURL = settings.redisURL()
        cacheKeys = settings.cacheKeys()
        metricsListen = settings.metricsListen(default: "127.0.0.1:9083")
        teamID = settings.required(
            "APNS_TEAM_ID", "Apple's id of the team, 10 characters", placeholder: "", Self.appleID)
        keyID = settings.required("APNS_KEY_ID", "Apple's id of the key, 10 characters", placeholder: "", Self.appleID)
        key = settings.required("APNS_KEY_FILE", "path of the key that Apple gave out, .p8", placeholder: nil) { path in
            guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw SettingsProblem("the file cannot be read")
            }
            return try ES256PrivateKey(pem: pem)
        }
        bundleID = settings.required("APNS_BUNDLE_ID", "the app's bundle id", placeholder: "") { text in
            text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : nil
        }
        environment = settings.optional(
            "APNS_ENVIRONMENT", "production or sandbox, for tokens that do not say", default: "production",
            APNSEnvironment.init(rawValue:))
        addresses = settings.optional(
            "APNS_URL", "other addresses of APNs: one URL for both, or production=URL,sandbox=URL",
            default: APNSAddresses.apple, APNSAddresses.init)
        caFile = settings.absent("APNS_CA_FILE", "certificates that APNs' must be signed by, PEM; else the system's") {
            $0
        }
        telemetry = settings.telemetry(service: "apns-pusher")
        logLevel = settings.logLevel()
    }

    private static func appleID(_ text: String) -> String? {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? text : nil
    }
}
