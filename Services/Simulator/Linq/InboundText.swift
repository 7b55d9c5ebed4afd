import Foundation
import Shared

/// Something a person does in Messages, as a control request asks for it.
struct InboundText: Sendable, Decodable, Equatable {
    /// A phone number or e-mail address.
    let from: String
    var text: String?
    /// "iMessage", "SMS" or "RCS".
    var service: String?
    /// The chat to write in; without it the person's own chat with the line.
    var chat: String?
    /// The others in a group chat.
    var group: [String]?
    /// The address of a picture that comes along.
    var media: String?
    var link: String?
    /// In a group: mentions the line.
    var mention: Bool?
    /// Instead of a text: "love", "like", "dislike", "laugh", "emphasize", "question".
    var reaction: String?
    /// What the reaction is to, or the message that this one answers.
    var messageID: String?
    /// Takes the reaction back.
    var removed: Bool?
    /// Instead of a text received: the echo of one that the line sent.
    var echo: Bool?
    /// A text that Linq recovered late.
    var reconciled: Bool?
    /// The webhook's version, "2026-02-03" or "2025-01-01".
    var version: String?
    /// Deliveries of the same webhook; they go out at once when there is more than one.
    var copies: Int?
    /// Lets later texts overtake this one.
    var delayMilliseconds: Int?
    /// Whether a new person gets an account and a phone first; the setting decides if it is not said.
    var onboard: Bool?

    static let mostCopies = 20
    static let longestDelay = 60_000

    /// What is wrong with it, if anything.
    var problem: String? {
        if !isHandle(from) { return "from must be an E.164 number or an e-mail address" }
        if text == nil, media == nil, link == nil, reaction == nil { return "text, media, link or reaction is needed" }
        if let service, !["iMessage", "SMS", "RCS"].contains(service) { return "service must be iMessage, SMS or RCS" }
        if let version, WebhookVersion(rawValue: version) == nil { return "version must be 2026-02-03 or 2025-01-01" }
        if let copies, !(1...Self.mostCopies).contains(copies) { return "copies must be 1 to \(Self.mostCopies)" }
        if let chat, !isUUID(chat) { return "chat must be a UUID" }
        if let delayMilliseconds, !(0...Self.longestDelay).contains(delayMilliseconds) {
            return "delayMilliseconds must be 0 to \(Self.longestDelay)"
        }
        return nil
    }

    /// Whether an agent that answers every text would answer this one.
    var expectsReply: Bool {
        reaction == nil && echo != true && reconciled != true && !(text.map(OptOut.isKeyword) ?? false)
            && (group == nil || mention == true)
    }
}

/// The shapes of Linq's webhooks.
enum WebhookVersion: String, Sendable {
    case v2025 = "2025-01-01"
    case v2026 = "2026-02-03"
}
