import Foundation

/// A request to APNs for one device, checked as Apple's documentation says ("Sending notification requests to APNs").
struct PushRequest: Sendable, Equatable {
    /// The largest body, in bytes.
    static let largestBody = 4096
    /// The longest collapse id, in bytes.
    static let longestCollapseID = 64
    static let topicSuffix = ".push-type.liveactivity"

    let token: String
    let topic: String
    let priority: Int
    let expiration: Date?
    let collapseID: String?

    /// Checks all but the provider token and the device token's standing.
    init(
        method: String, path: String, headers: [(name: String, value: String)], body: [UInt8]
    ) throws(APNSRefusal) {
        guard method == "POST" else { throw .methodNotAllowed }
        guard path.hasPrefix("/3/device/") else { throw path == "/3/device" ? .missingDeviceToken : .badPath }
        let token = path.dropFirst("/3/device/".count).lowercased()
        guard !token.isEmpty else { throw .missingDeviceToken }
        guard !token.contains("/") else { throw .badPath }
        let fields = try Self.single(headers)
        guard let topic = fields["apns-topic"], !topic.isEmpty else { throw .missingTopic }
        guard fields["apns-push-type"] == "liveactivity" else { throw .invalidPushType }
        guard topic.hasSuffix(Self.topicSuffix) else { throw .badTopic }
        guard ["5", "10"].contains(fields["apns-priority"] ?? "10") else { throw .badPriority }
        priority = fields["apns-priority"] == "5" ? 5 : 10
        expiration = try Self.expiration(fields["apns-expiration"])
        collapseID = fields["apns-collapse-id"]
        guard collapseID?.utf8.count ?? 0 <= Self.longestCollapseID else { throw .badCollapseID }
        guard !body.isEmpty else { throw .payloadEmpty }
        guard body.count <= Self.largestBody else { throw .payloadTooLarge }
        guard token.utf8.count.isMultiple(of: 2), token.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw .badDeviceToken
        }
        self.token = token
        self.topic = topic
    }

    /// The request's `apns-id` in lower case; `nil` if it has none.
    static func messageID(_ headers: [(name: String, value: String)]) throws(APNSRefusal) -> String? {
        guard let id = headers.first(where: { $0.name.lowercased() == "apns-id" })?.value else { return nil }
        guard isUUID(id) else { throw .badMessageID }
        return id.lowercased()
    }

    /// Each of Apple's headers once at the most.
    private static func single(_ headers: [(name: String, value: String)]) throws(APNSRefusal) -> [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in headers where name.lowercased().hasPrefix("apns-") {
            guard fields.updateValue(value, forKey: name.lowercased()) == nil else { throw .duplicateHeaders }
        }
        return fields
    }

    private static func expiration(_ text: String?) throws(APNSRefusal) -> Date? {
        guard let text else { return nil }
        guard let seconds = Int64(text), seconds >= 0 else { throw .badExpirationDate }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
