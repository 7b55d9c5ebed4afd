import Crypto
import Foundation
import Runtime

/// Signs webhooks both ways that Linq does: as Standard Webhooks say, and in the older headers.
struct WebhookSignature: Sendable {
    private let standard: HMACKey
    private let legacy: HMACKey

    /// - Parameter secret: "whsec_" and Base64; `nil` if it is not that.
    init?(secret: String) {
        guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))), !key.isEmpty
        else {
            return nil
        }
        standard = HMACKey(Array(key))
        // The older scheme takes the whole secret as it is written.
        legacy = HMACKey(Array(secret.utf8))
    }

    /// The headers of one attempt.
    ///
    /// - Parameters:
    ///   - id: The same for every attempt of an event.
    ///   - seconds: UNIX time of the attempt.
    func headers(
        id: String, eventType: String, subscription: String, seconds: Int64, body: [UInt8]
    ) -> [(name: String, value: String)] {
        let signature = standard.authenticate(Array("\(id).\(seconds).".utf8), body)
        let legacySignature = legacy.authenticate(Array("\(seconds).".utf8), body)
        return [
            ("Content-Type", "application/json"),
            ("webhook-id", id),
            ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", "v1," + Data(signature).base64EncodedString()),
            ("X-Webhook-Event", eventType),
            ("X-Webhook-Subscription-ID", subscription),
            ("X-Webhook-Timestamp", "\(seconds)"),
            ("X-Webhook-Signature", legacySignature.hexString),
        ]
    }
}
