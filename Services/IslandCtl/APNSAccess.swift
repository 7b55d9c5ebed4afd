import APNSClient
import Crypto
import Foundation
import HTTP2
import Runtime
import Shared

/// A way to APNs, from the options of a command or the settings of `apns-pusher`.
struct APNSAccess {
    static let timeout = Duration.seconds(15)

    /// What APNs said to a push.
    struct Answer: Equatable {
        let status: Int
        /// Apple's own word; empty for an accepted push.
        let reason: String

        var isAccepted: Bool { status == 200 }

        /// What a person can do about it.
        var words: String? {
            switch reason {
            case "": isAccepted ? "APNs took it; that says nothing about the phone" : nil
            case "BadDeviceToken":
                "the token is not one of this environment: try the other --environment, or look at the token"
            case "DeviceTokenNotForTopic", "TopicDisallowed", "BadTopic", "MissingTopic":
                "the bundle id is not the app's, or the key may not push to it"
            case "InvalidProviderToken": "the key, its id and the team do not belong together"
            case "ExpiredProviderToken": "this machine's clock is wrong"
            case "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken":
                "the key is for the other environment alone"
            case "Unregistered", "ExpiredToken": "the token is dead: the app was removed, or the card is gone"
            default: nil
            }
        }
    }

    let bundleID: String
    let environment: APNSEnvironment
    private let address: APNSAddresses.Address
    private let caFile: String?
    private let token: ProviderToken
    private let log: Log

    init(_ arguments: Arguments, _ surroundings: Surroundings) throws {
        let keyFile = try surroundings.required("--key", arguments, or: "APNS_KEY_FILE")
        let pem = try Surroundings.text(ofFile: keyFile, for: "--key")
        let key: ES256PrivateKey
        do { key = try ES256PrivateKey(pem: pem + "\n") } catch { throw UsageError("--key: \(keyFile): \(error)") }
        bundleID = try surroundings.required("--bundle", arguments, or: "APNS_BUNDLE_ID")
        let name = try surroundings.value("--environment", arguments, or: "APNS_ENVIRONMENT") ?? "production"
        guard let environment = APNSEnvironment(rawValue: name) else {
            throw UsageError("--environment: expected production or sandbox")
        }
        self.environment = environment
        let url = try surroundings.value("--url", arguments, or: "APNS_URL") ?? APNSAddresses.apple
        guard let addresses = APNSAddresses(url) else { throw UsageError("--url: expected https://HOST:PORT") }
        address = addresses[environment]
        caFile = try surroundings.value("--ca", arguments, or: "APNS_CA_FILE")
        token = ProviderToken(
            key: key, keyID: try surroundings.required("--key-id", arguments, or: "APNS_KEY_ID"),
            teamID: try surroundings.required("--team", arguments, or: "APNS_TEAM_ID"), clock: surroundings.clock)
        log = surroundings.log
    }

    /// Sends one push over a connection of its own.
    func send(_ push: PushRequest) async throws -> Answer {
        let client: HTTP2Client
        do {
            client = try HTTP2Client(
                host: address.host, port: address.port, caFile: caFile, name: "islandctl", log: log, metrics: Metrics())
        } catch { throw UsageError("--ca: \(error)") }
        let result: Result<HTTP2Response, any Error>
        do {
            result = .success(
                try await client.send(push.http2(providerToken: try token.current()), within: Self.timeout))
        } catch { result = .failure(error) }
        await client.close()
        switch result {
        case .failure(let error): throw NoAnswer("APNs at \(address.host):\(address.port) did not answer: \(error)")
        case .success(let response):
            return Answer(status: response.status, reason: AnyJSON(parsing: response.body)?["reason"]?.text ?? "")
        }
    }
}
