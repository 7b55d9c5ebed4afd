import Foundation

/// A push as APNs hands it to the phone.
struct Push: Sendable, Equatable {
    /// Lower-case canonical UUID.
    let apnsID: String
    /// The token it was sent to, lower-case hexadecimal.
    let token: String
    let body: [UInt8]
    let priority: Int
    /// When APNs stops trying to deliver it; `nil` if the sender did not say, 1970 for "one attempt".
    let expiration: Date?
}

/// What ActivityKit reads from a push's body.
///
/// Each key may be missing here, so that the phone can say which one it missed.
struct PushPayload: Decodable, Equatable {
    let aps: APS

    struct APS: Decodable, Equatable {
        let timestamp: Int64?
        let event: String?
        let attributesType: String?
        let alert: Alert?
        let staleDate: Int64?
        let dismissalDate: Int64?
        let relevanceScore: Double?
        let inputPushToken: Int?
        let inputPushChannel: String?

        enum CodingKeys: String, CodingKey {
            case timestamp, event, alert
            case attributesType = "attributes-type"
            case staleDate = "stale-date"
            case dismissalDate = "dismissal-date"
            case relevanceScore = "relevance-score"
            case inputPushToken = "input-push-token"
            case inputPushChannel = "input-push-channel"
        }
    }

    struct Alert: Decodable, Equatable {
        let title: Wording?
        let body: Wording?
    }

    /// Plain words, or the key of words that the app brings along.
    enum Wording: Decodable, Equatable {
        case plain(String)
        case localized(key: String)

        private enum CodingKeys: String, CodingKey { case key = "loc-key" }

        init(from decoder: any Decoder) throws {
            // If it is no text it has to be the object form.
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self = .plain(text)
            } else {
                self = .localized(
                    key: try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .key))
            }
        }
    }

    init(decoding body: [UInt8]) throws {
        self = try JSONDecoder().decode(PushPayload.self, from: Data(body))
    }
}
