import Crypto
import Foundation

@testable import Ingress

/// The headers of a webhook: whatever they hold, nobody without the secret is genuine, and whoever has it is.
@Sendable func fuzzSignature(_ input: [UInt8]) {
    let parts = parts(of: input, 6)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    if let secret = WebhookSecret(texts[0]) { _ = WebhookSignature(secrets: [secret]) }
    guard let secret = WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") else {
        preconditionFailure("a good secret is not taken")
    }
    let judge = WebhookSignature(secrets: [secret])
    let headers = [
        "webhook-id": texts[1], "webhook-timestamp": texts[2], "webhook-signature": texts[3],
        "x-webhook-timestamp": texts[2], "x-webhook-signature": texts[4],
    ]
    let now = Int64(1_800_000_000)
    precondition(judge.judge(body: parts[5], now: now) { headers[$0] } == .forged, "forged, and taken")
    var older = headers
    older["webhook-signature"] = nil
    precondition(judge.judge(body: parts[5], now: now) { older[$0] } == .forged, "forged the older way, and taken")

    // Signed by us, among whatever else the header holds.
    let id = "msg_1"
    let signature = Data(secret.standard.authenticate(Array("\(id).\(now).".utf8), parts[5])).base64EncodedString()
    let good = ["webhook-id": id, "webhook-timestamp": "\(now)", "webhook-signature": "v1,\(signature) \(texts[3])"]
    precondition(judge.judge(body: parts[5], now: now) { good[$0] } == .genuine, "genuine, and refused")
}
