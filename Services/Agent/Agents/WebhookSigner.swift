import Crypto
import Foundation
import Runtime

/// Signs what goes to an endpoint as Standard Webhooks 1.0.0 say: HMAC-SHA256 over `id.timestamp.body`.
struct WebhookSigner: Sendable {
    /// Bytes of a key that are enough ("Standard Webhooks", symmetric signatures).
    static let shortestKey = 24

    private let keys: [HMACKey]

    /// Reads secrets, "whsec_" and base64 each; with several, as while they are changed, each signs.
    init(_ secrets: [String]) throws(SettingsProblem) {
        guard !secrets.isEmpty else { throw SettingsProblem("expected whsec_ and base64") }
        var keys: [HMACKey] = []
        for secret in secrets {
            guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))) else {
                throw SettingsProblem("expected whsec_ and base64, comma-separated")
            }
            guard key.count >= Self.shortestKey else {
                throw SettingsProblem("expected at least \(Self.shortestKey) bytes of key behind whsec_")
            }
            keys.append(HMACKey(Array(key)))
        }
        self.keys = keys
    }

    /// The headers of one try.
    ///
    /// - Parameters:
    ///   - id: The event's, the same for every try.
    ///   - seconds: UNIX time of the try.
    func headers(id: String, seconds: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let id = Self.webhookID(id)
        let signatures = keys.map { key in
            "v1," + Data(key.authenticate(Array("\(id).\(seconds).".utf8), body)).base64EncodedString()
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }

    /// A full stop would let somebody move the border between id and timestamp, and others have no place in a header:
    /// an id with any of these is sent as a UUID made from it.
    static func webhookID(_ eventID: String) -> String {
        let isPlain = eventID.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, (1...128).contains(eventID.utf8.count) else {
            return UUIDFromName.make("isthmus.webhook-id", eventID).uuidString.lowercased()
        }
        return eventID
    }
}
