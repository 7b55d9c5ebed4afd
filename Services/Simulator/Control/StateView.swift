import Foundation
import Shared

/// What is known about one person, for the page, for tests and for `./run say`.
struct StateView: Encodable {
    /// Messages that are shown.
    static let threadLength = 200

    let userID: String?
    let handles: [String]
    /// The phones' time.
    let now: Timestamp
    let chats: [Chat]
    let phones: [Phone]
    /// The last pushes to these phones' tokens.
    var pushes: [APNSEnd.Record]
    /// The last webhooks of anybody.
    var webhooks: [WebhookSender.Delivery]

    struct Chat: Encodable {
        let id: String
        let handles: [String]
        let isGroup: Bool
        let service: String
        /// Whether the person's phone shows that the line types, and until when unless it is told again.
        let isTyping: Bool
        let typingUntil: Timestamp?
        /// Whether the line has read the person's last message.
        let isRead: Bool
        let isOptedOut: Bool
        let messages: [Message]
    }

    struct Message: Encodable {
        let id: String
        let direction: String
        let sender: String
        let text: String
        let parts: [JSONValue]
        let service: String
        let at: Timestamp
        let reactions: [String]
        /// When the line marked it as read; only what a person wrote.
        let readAt: Timestamp?
    }

    struct Phone: Encodable {
        let deviceID: String
        let system: String
        let app: String
        let isOnline: Bool
        /// Ends of the tokens by attributes type.
        let startTokens: [String: String]
        /// What the Island shows, if it shows anything.
        let island: Island?
        let cards: [Island]
        let dropped: [Drop]
        let removed: [String]
        let registrations: [AppClient.Said]
    }

    struct Island: Encodable {
        let activityID: String
        let attributesType: String
        let sessionID: String?
        let attributes: JSONValue
        let contentState: JSONValue
        let phase: String
        let timestamp: Int64
        let relevanceScore: Double
        let startedAt: Timestamp
        let appliedAt: Timestamp
        let staleAt: Timestamp?
        let removedAt: Timestamp?
        let hasToken: Bool
    }

    struct Drop: Encodable {
        let at: Timestamp
        let apnsID: String
        let event: String
        let reason: String
    }
}

extension StateView.Island {
    init(_ card: Card) {
        activityID = card.activityID
        attributesType = card.attributesType
        sessionID = card.sessionID
        // Both were written by an encoder of ours, so that they can be read.
        attributes = (try? JSONValue(parsing: card.attributes)) ?? .null
        contentState = (try? JSONValue(parsing: card.contentState)) ?? .null
        timestamp = card.timestamp
        relevanceScore = card.relevanceScore
        startedAt = Timestamp(card.startedAt)
        appliedAt = Timestamp(card.appliedAt)
        staleAt = card.staleDate.map(Timestamp.init)
        hasToken = card.token != nil
        switch card.phase {
        case .active: (phase, removedAt) = ("active", nil)
        case .stale: (phase, removedAt) = ("stale", nil)
        case .ended(let removal): (phase, removedAt) = ("ended", Timestamp(removal))
        }
    }
}

extension StateView.Phone {
    init(_ phone: VirtualPhone, registrations: [AppClient.Said]) {
        deviceID = phone.deviceID
        system = "iOS \(phone.system.rawValue)"
        app = phone.app.rawValue
        isOnline = phone.isOnline
        startTokens = phone.startTokens.mapValues(tokenEnd)
        island = phone.island.map(StateView.Island.init)
        cards = phone.cards.map(StateView.Island.init)
        dropped = phone.dropped.map {
            StateView.Drop(at: Timestamp($0.at), apnsID: $0.apnsID, event: $0.event, reason: $0.reason)
        }
        removed = phone.removed
        self.registrations = registrations
    }
}

extension StateView.Chat {
    init(_ chat: LinqBook.Chat, _ messages: ArraySlice<LinqBook.Message>, isOptedOut: Bool, at now: Date) {
        id = chat.id
        handles = chat.handles
        isGroup = chat.isGroup
        service = chat.service
        isTyping = chat.isTyping(at: now)
        typingUntil = isTyping ? chat.typingUntil.map(Timestamp.init) : nil
        isRead = chat.isRead
        self.isOptedOut = isOptedOut
        self.messages = messages.map { StateView.Message($0) }
    }
}

extension StateView.Message {
    init(_ message: LinqBook.Message) {
        id = message.id
        direction = message.direction.rawValue
        sender = message.sender
        text = message.text
        parts = message.parts
        service = message.service
        at = Timestamp(message.at)
        reactions = message.reactions
        readAt = message.readAt.map(Timestamp.init)
    }
}
