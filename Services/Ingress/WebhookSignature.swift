import Crypto
import Foundation
import Runtime

/// A webhook subscription's secret, in both forms that Linq signs with.
struct WebhookSecret: Sendable {
    /// Standard Webhooks: the key is what the base64 behind `whsec_` stands for.
    let standard: HMACKey
    /// Linq's older scheme: the key is the whole text, prefix and all.
    let legacy: HMACKey

    /// Reads `whsec_` and base64, padded or not; the prefix may be missing.
    ///
    /// `nil` if there is no key in it.
    init?(_ text: String) {
        let prefix = "whsec_"
        var encoded = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        // Foundation reads padding without anything before it as bytes: take it off and put on what is due.
        while encoded.last == "=" { encoded.removeLast() }
        let padding = String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
        guard !encoded.isEmpty, let key = Data(base64Encoded: encoded + padding), !key.isEmpty else { return nil }
        standard = HMACKey(Array(key))
        legacy = HMACKey(Array(text.utf8))
    }
}

/// Whether a webhook is Linq's, by its headers and its raw body.
///
/// Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`, `v1,` and base64, several signatures by blanks.
/// The older `X-Webhook-*` family counts only where `webhook-signature` is absent; a wrong signature of the newer kind
/// is never made up for by one of the older.
struct WebhookSignature {
    /// How far the sender's clock may be off, seconds.
    static let tolerance: Int64 = 300
    /// More signatures than a rotation could need are not looked at.
    private static let maxSignatures = 10

    enum Judgement: Equatable {
        case genuine
        /// The signature is right, but its time is not: a clock is wrong, or somebody replays.
        case outsideTolerance
        case forged
    }

    let secrets: [WebhookSecret]

    /// - Parameters:
    ///   - header: The value of a header by its lower-case name.
    ///   - now: Seconds since 1970.
    func judge(body: [UInt8], now: Int64, header: (String) -> String?) -> Judgement {
        if let signatures = header("webhook-signature") {
            return judgeStandard(signatures, body, now, header)
        }
        guard let signature = header("x-webhook-signature"), let timestamp = header("x-webhook-timestamp") else {
            return .forged
        }
        return judgeLegacy(signature, timestamp, body, now)
    }

    private func judgeStandard(
        _ signatures: String, _ body: [UInt8], _ now: Int64, _ header: (String) -> String?
    ) -> Judgement {
        guard let id = header("webhook-id"), Self.isPlain(id), let timestamp = header("webhook-timestamp"),
            let seconds = Self.seconds(timestamp)
        else { return .forged }
        // By bytes: with a mark behind it, a blank is no character of its own.
        let entries = signatures.utf8.split(separator: UInt8(ascii: " ")).prefix(Self.maxSignatures).map(Substring.init)
        let candidates = entries.compactMap { entry in
            entry.hasPrefix("v1,") ? Data(base64Encoded: String(entry.dropFirst(3))).map(Array.init) : nil
        }
        let head = Array("\(id).\(timestamp).".utf8)
        // Every key is held against every signature, so that the time it takes says nothing about which one fits.
        var isGenuine = false
        for secret in secrets {
            let expected = secret.standard.authenticate(head, body)
            for candidate in candidates where constantTimeEqual(expected, candidate) { isGenuine = true }
        }
        return verdict(isGenuine, seconds, now)
    }

    private func judgeLegacy(_ signature: String, _ timestamp: String, _ body: [UInt8], _ now: Int64) -> Judgement {
        guard let seconds = Self.seconds(timestamp), let candidate = [UInt8](hex: signature) else { return .forged }
        let head = Array("\(timestamp).".utf8)
        var isGenuine = false
        for secret in secrets where constantTimeEqual(secret.legacy.authenticate(head, body), candidate) {
            isGenuine = true
        }
        return verdict(isGenuine, seconds, now)
    }

    private func verdict(_ isGenuine: Bool, _ seconds: Int64, _ now: Int64) -> Judgement {
        guard isGenuine else { return .forged }
        return abs(now - seconds) <= Self.tolerance ? .genuine : .outsideTolerance
    }

    /// An id with a dot could shift the boundary between the signed fields.
    private static func isPlain(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Digits alone: no sign, no fraction, no blank.
    private static func seconds(_ text: String) -> Int64? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text)
    }
}
