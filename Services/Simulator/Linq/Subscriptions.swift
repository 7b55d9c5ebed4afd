import Crypto
import Foundation
import HTTPServer
import Runtime
import Shared

/// Where webhooks go: the one of the settings, and those made over the API.
final class Subscriptions: Sendable {
    /// Subscriptions at once.
    static let most = 20

    private struct Entry {
        let target: WebhookSender.Target
        /// `nil` for all there are.
        let events: [String]?
        /// The lines that it is for; `nil` for all.
        var phoneNumbers: [String]?
        let createdAt: Timestamp
    }

    private let entries: Locked<[Entry]>

    init(_ first: WebhookSender.Target?) {
        let first = first.map { Entry(target: $0, events: nil, createdAt: Timestamp(WallClock.system.now)) }
        entries = Locked(first.map { [$0] } ?? [])
    }

    /// Who wants to hear of events of this type.
    func targets(for type: String) -> [WebhookSender.Target] {
        entries.withLock { entries in entries.filter { $0.events?.contains(type) ?? true }.map(\.target) }
    }

    /// Answers what is asked under `/webhook-subscriptions`.
    func handle(_ request: HTTPRequest, _ path: [String]) throws(LinqFailure) -> (status: Int, body: String) {
        switch (request.method, path.count) {
        case ("POST", 1): return (201, try create(request.body))
        case ("GET", 1):
            let all = entries.withLock { $0.map { Self.json($0, secret: nil) } }
            return (200, "{\"subscriptions\":[\(all.joined(separator: ","))]}")
        case ("GET", 2):
            guard let entry = entries.withLock({ $0.first { $0.target.id == path[1] } }) else {
                throw .subscriptionNotFound
            }
            return (200, Self.json(entry, secret: nil))
        case ("DELETE", 2):
            let wasThere = entries.withLock { entries in
                let count = entries.count
                entries.removeAll { $0.target.id == path[1] }
                return entries.count < count
            }
            guard wasThere else { throw .subscriptionNotFound }
            return (204, "")
        default: throw .subscriptionNotFound
        }
    }

    private func create(_ body: [UInt8]) throws(LinqFailure) -> String {
        guard let json = try? JSONValue(parsing: body) else { throw .badJSON }  // The answer says all there is to say.
        guard let url = json["target_url"]?.string else { throw .missing("target_url") }
        guard let events = json["subscribed_events"]?.array?.compactMap(\.string), !events.isEmpty else {
            throw .missing("subscribed_events")
        }
        let secret = "whsec_" + Data(RandomBytes.make(32)).base64EncodedString()
        guard let signature = WebhookSignature(secret: secret) else { throw .internalError }
        let target = WebhookSender.Target(id: UUID().uuidString.lowercased(), url: url, signature: signature)
        let entry = Entry(
            target: target, events: events, phoneNumbers: json["phone_numbers"]?.array?.compactMap(\.string),
            createdAt: Timestamp(WallClock.system.now))
        let isAdded = entries.withLock { entries in
            guard entries.count < Self.most, !entries.contains(where: { $0.target.url == url }) else { return false }
            entries.append(entry)
            return true
        }
        guard isAdded else { throw .badValue("target_url must be unique") }
        return Self.json(entry, secret: secret)
    }

    private static func json(_ entry: Entry, secret: String?) -> String {
        let signingSecret = secret.map { ",\"signing_secret\":\($0.json)" } ?? ""
        let numbers = entry.phoneNumbers.map { ",\"phone_numbers\":[\($0.map(\.json).joined(separator: ","))]" } ?? ""
        let events = entry.events ?? ["message.received", "message.sent", "message.delivered", "reaction.added"]
        return """
            {"id":\(entry.target.id.json),"created_at":"\(entry.createdAt)","updated_at":"\(entry.createdAt)",\
            "is_active":true,"subscribed_events":[\(events.map(\.json).joined(separator: ","))],\
            "target_url":\(entry.target.url.json)\(numbers)\(signingSecret)}
            """
    }
}
