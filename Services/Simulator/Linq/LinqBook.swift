import Foundation
import Shared

/// All that the stand-in for Linq remembers: chats, messages, idempotency keys, who opted out.
///
/// It does no work itself.
struct LinqBook: Sendable {
    /// Messages of a chat that are remembered.
    static let threadLength = 1000
    /// Idempotency keys that are remembered, the oldest are forgotten first.
    static let mostKeys = 200_000
    /// How long a phone shows that somebody types, unless it is told again: Linq's documents say 85 to 90 seconds.
    static let typingLasts = 85.0
    /// Latencies that the percentiles are taken from.
    static let mostLatencies = 100_000

    struct Chat: Sendable, Equatable {
        let id: String
        /// Everybody but the line, in a fixed order.
        let handles: [String]
        var service: String
        /// Until when the person's phone shows that the line types.
        var typingUntil: Date?
        /// Whether the line has read the person's last message.
        var isRead = false

        func isTyping(at now: Date) -> Bool { typingUntil.map { now < $0 } ?? false }

        var isGroup: Bool { handles.count > 1 }
    }

    struct Message: Sendable, Equatable {
        enum Direction: String, Sendable { case inbound, outbound }

        let id: String
        let chatID: String
        let direction: Direction
        /// Who wrote it: a handle, or the line.
        let sender: String
        let parts: [JSONValue]
        let service: String
        let at: Date
        let idempotencyKey: String?
        var reactions: [String] = []
        /// When the line marked a person's message as read.
        var readAt: Date?

        var text: String { parts.compactMap { $0["value"]?.string }.joined(separator: "\n") }
    }

    struct Figures: Sendable, Encodable, Equatable {
        var textsReceived = 0
        var repliesAccepted = 0
        /// Requests that came again with a key that was known, and were answered as the first time.
        var repliesRepeated = 0
        /// Replies beyond one a text, summed over the chats: texts answered twice, as far as can be counted.
        var repliesDoubled = 0
        /// Texts that have no reply yet.
        var textsUnanswered = 0
        var typingStarted = 0
        var typingStopped = 0
        var chatsRead = 0
        var refused: [String: Int] = [:]
    }

    /// What a send comes to.
    struct Acceptance: Sendable, Equatable {
        let body: String
        /// What was sent now; `nil` if it was sent before.
        let message: Message?
    }

    let line: String
    private(set) var chats: [String: Chat] = [:]
    private(set) var threads: [String: [Message]] = [:]
    private(set) var optedOut: Set<String> = []
    private(set) var figures = Figures()
    private(set) var latencies: [Double] = []
    private var chatOfHandles: [[String]: String] = [:]
    private var answers: [String: String] = [:]
    private var keysByAge: [String] = []
    private var oldestKey = 0
    private var unanswered: [String: [Date]] = [:]

    init(line: String) { self.line = line }

    /// The chat with exactly these people, made if there is none.
    mutating func chat(with handles: [String], service: String, id: String?) -> Chat {
        let handles = handles.sorted()
        if let id, let chat = chats[id] { return chat }
        if id == nil, let known = chatOfHandles[handles], let chat = chats[known] { return chat }
        let chat = Chat(id: id ?? UUID().uuidString.lowercased(), handles: handles, service: service)
        chats[chat.id] = chat
        chatOfHandles[handles] = chat.id
        return chat
    }

    /// A person wrote.
    ///
    /// Opt-out words count from here on; anything else takes an opt-out back.
    mutating func receive(_ message: Message, expectsReply: Bool) {
        append(message)
        guard message.direction == .inbound else { return }
        figures.textsReceived += 1
        chats[message.chatID]?.service = message.service
        chats[message.chatID]?.isRead = false
        let isOut = OptOut.isKeyword(message.text)
        if isOut, chats[message.chatID]?.isGroup == false {
            optedOut.insert(message.sender)
        } else if !isOut {
            optedOut.remove(message.sender)
        }
        if expectsReply { unanswered[message.chatID, default: []].append(message.at) }
    }

    mutating func send(_ request: SendToHandles, at now: Date) throws(LinqFailure) -> Acceptance {
        if let repeated = repeated(request.message) { return repeated }
        try checkOptOut(request.to, request.overridesOptOut)
        let isNew = chatOfHandles[request.to] == nil
        let service = request.message.preferredService ?? "iMessage"
        let chat = chat(with: request.to, service: service, id: nil)
        let message = record(request.message, in: chat, at: now)
        let body = LinqAnswer.toHandles(message, request.message, chat, line: line, isNew: isNew)
        return accept(body, message)
    }

    mutating func send(_ request: SendToChat, chatID: String, at now: Date) throws(LinqFailure) -> Acceptance {
        guard isUUID(chatID) else { throw .badValue("invalid chatId format: must be a valid UUID") }
        if let repeated = repeated(request.message) { return repeated }
        let chat = try known(chatID.lowercased())
        if !chat.isGroup { try checkOptOut(chat.handles, request.overridesOptOut) }
        let message = record(request.message, in: chat, at: now)
        return accept(LinqAnswer.toChat(message, request.message, chat, line: line), message)
    }

    /// Shows or hides that the line types; by SMS and RCS it is taken, and nothing shows.
    mutating func setTyping(_ isTyping: Bool, in chatID: String, at now: Date) throws(LinqFailure) {
        let chat = try known(chatID)
        if isTyping { figures.typingStarted += 1 } else { figures.typingStopped += 1 }
        let shows = isTyping && chat.service == "iMessage"
        chats[chat.id]?.typingUntil = shows ? now.addingTimeInterval(Self.typingLasts) : nil
    }

    /// Marks all that the person has written as read; in a group it is taken, and nothing shows.
    mutating func markRead(_ chatID: String, at now: Date) throws(LinqFailure) {
        let chat = try known(chatID)
        figures.chatsRead += 1
        guard !chat.isGroup else { return }
        chats[chat.id]?.isRead = true
        for index in (threads[chat.id] ?? []).indices.reversed() {
            guard threads[chat.id]?[index].readAt == nil else { break }
            if threads[chat.id]?[index].direction == .inbound { threads[chat.id]?[index].readAt = now }
        }
    }

    private func known(_ chatID: String) throws(LinqFailure) -> Chat {
        guard isUUID(chatID) else { throw .badValue("invalid chatId format: must be a valid UUID") }
        guard let chat = chats[chatID] else { throw .chatNotFound }
        return chat
    }

    mutating func react(_ reaction: String, to messageID: String, in chatID: String, isAdded: Bool) {
        guard let index = threads[chatID]?.lastIndex(where: { $0.id == messageID }) else { return }
        threads[chatID]?[index].reactions.removeAll { $0 == reaction }
        if isAdded { threads[chatID]?[index].reactions.append(reaction) }
    }

    mutating func count(_ failure: LinqFailure) {
        figures.refused["\(failure.status)/\(failure.code)", default: 0] += 1
    }

    /// The figures, with what can only be said now.
    var summary: Figures {
        var figures = figures
        figures.textsUnanswered = unanswered.values.reduce(0) { $0 + $1.count }
        return figures
    }

    /// Forgets the figures, not the conversations.
    mutating func resetFigures() {
        figures = Figures()
        latencies = []
        unanswered = [:]
    }

    private mutating func repeated(_ content: MessageContent) -> Acceptance? {
        guard let key = content.idempotencyKey, let body = answers[key] else { return nil }
        figures.repliesRepeated += 1
        return Acceptance(body: body, message: nil)
    }

    private func checkOptOut(_ handles: [String], _ isOverridden: Bool) throws(LinqFailure) {
        guard !isOverridden, handles.count == 1, handles.contains(where: optedOut.contains) else { return }
        throw .optedOut
    }

    private mutating func record(_ content: MessageContent, in chat: Chat, at now: Date) -> Message {
        let message = Message(
            id: UUID().uuidString.lowercased(), chatID: chat.id, direction: .outbound, sender: line,
            parts: content.parts,
            service: content.preferredService ?? chat.service, at: now, idempotencyKey: content.idempotencyKey)
        append(message)
        chats[chat.id]?.typingUntil = nil
        figures.repliesAccepted += 1
        if unanswered[chat.id]?.isEmpty == false, let asked = unanswered[chat.id]?.removeFirst() {
            if latencies.count >= Self.mostLatencies { latencies.removeFirst(Self.mostLatencies / 10) }
            latencies.append(now.timeIntervalSince(asked))
        } else {
            figures.repliesDoubled += 1
        }
        return message
    }

    private mutating func accept(_ body: String, _ message: Message) -> Acceptance {
        if let key = message.idempotencyKey { remember(key, body) }
        return Acceptance(body: body, message: message)
    }

    private mutating func remember(_ key: String, _ body: String) {
        answers[key] = body
        keysByAge.append(key)
        if keysByAge.count - oldestKey > Self.mostKeys {
            answers[keysByAge[oldestKey]] = nil
            oldestKey += 1
        }
        if oldestKey > Self.mostKeys {
            keysByAge.removeFirst(oldestKey)
            oldestKey = 0
        }
    }

    private mutating func append(_ message: Message) {
        threads[message.chatID, default: []].append(message)
        if threads[message.chatID]?.count ?? 0 > Self.threadLength { threads[message.chatID]?.removeFirst(100) }
    }
}

/// Words by which a person stops all messages of the account.
enum OptOut {
    private static let words: Set<String> = ["STOP", "UNSUBSCRIBE", "OPTOUT", "CANCEL", "END", "QUIT"]

    /// The whole trimmed message counts, in capitals; OPT OUT counts in any case, with or without a space or hyphen.
    static func isKeyword(_ text: String) -> Bool {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return words.contains(text) || ["opt out", "opt-out", "optout"].contains(text.lowercased())
    }
}
