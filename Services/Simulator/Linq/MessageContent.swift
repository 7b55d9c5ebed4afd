/// The message of a send request, checked by Linq's rules (API v3, `MessageContent`).
struct MessageContent: Sendable, Equatable {
    static let mostParts = 100
    static let mostURLMedia = 40
    static let longestText = 10_000
    static let longestLink = 2048
    static let longestKey = 255
    static let mostRecipients = 31

    let parts: [JSONValue]
    let replyTo: JSONValue?
    let effect: JSONValue?
    let preferredService: String?
    private(set) var idempotencyKey: String?

    init(checking json: JSONValue?) throws(LinqFailure) {
        guard let json, case .object = json else { throw .missing("message") }
        guard let parts = json["parts"]?.array, !parts.isEmpty else { throw .missing("message.parts") }
        guard parts.count <= Self.mostParts else { throw .badParts("a message has at most \(Self.mostParts) parts") }
        try Self.check(parts)
        self.parts = parts
        replyTo = try Self.object(json["reply_to"], "message.reply_to")
        if let replyTo, replyTo["message_id"]?.string.map(isUUID) != true {
            throw .badValue("invalid reply_to.message_id format: must be a valid UUID")
        }
        effect = try Self.object(json["effect"], "message.effect")
        if let effect { try Self.check(effect: effect) }
        preferredService = try Self.text(json["preferred_service"], "message.preferred_service")
        if let preferredService, !["iMessage", "RCS", "SMS"].contains(preferredService) {
            throw .badValue("preferred_service must be iMessage, RCS or SMS")
        }
        idempotencyKey = try Self.text(json["idempotency_key"], "message.idempotency_key")
        if let idempotencyKey, !(1...Self.longestKey).contains(idempotencyKey.count) {
            throw .badValue("idempotency_key must have 1 to \(Self.longestKey) characters")
        }
    }

    /// The key may also come as the header `Idempotency-Key`; the one in the message goes before it.
    mutating func useKey(ofHeader key: String?) throws(LinqFailure) {
        guard idempotencyKey == nil, let key else { return }
        guard (1...Self.longestKey).contains(key.count) else {
            throw .badValue("Idempotency-Key must have 1 to \(Self.longestKey) characters")
        }
        idempotencyKey = key
    }

    private static func check(_ parts: [JSONValue]) throws(LinqFailure) {
        var last: String?
        var urlMedia = 0
        for part in parts {
            guard let type = part["type"]?.string else { throw .badParts("each part needs a type") }
            switch type {
            case "text":
                guard last != "text" else { throw .badParts("consecutive text parts are not allowed") }
                try checkValue(part, longest: longestText)
            case "media":
                urlMedia += try checkMedia(part)
            case "link", "app_clip":
                guard parts.count == 1 else { throw .badParts("a \(type) part must be the only part") }
                try checkValue(part, longest: longestLink)
            case "imessage_app":
                guard parts.count == 1 else { throw .badParts("a \(type) part must be the only part") }
            default: throw .badParts("unknown part type \(type)")
            }
            last = type
        }
        guard urlMedia <= mostURLMedia else { throw .badParts("at most \(mostURLMedia) media parts by URL") }
    }

    private static func checkValue(_ part: JSONValue, longest: Int) throws(LinqFailure) {
        guard let value = part["value"]?.string else { throw .missing("part.value") }
        guard (1...longest).contains(value.unicodeScalars.count) else {
            throw .badValue("value must have 1 to \(longest) characters")
        }
    }

    /// 1 for a part that gives a URL.
    private static func checkMedia(_ part: JSONValue) throws(LinqFailure) -> Int {
        switch (part["url"]?.string, part["attachment_id"]?.string) {
        case (let url?, nil):
            guard url.hasPrefix("https://") else { throw .badValue("media url must be https") }
            return 1
        case (nil, let id?):
            guard isUUID(id) else { throw .badValue("attachment_id must be a valid UUID") }
            return 0
        default: throw .badParts("a media part needs either url or attachment_id")
        }
    }

    private static let effects: [String: Set<String>] = [
        "screen": [
            "confetti", "fireworks", "lasers", "sparkles", "celebration", "hearts", "love", "balloons",
            "happy_birthday",
            "echo", "spotlight",
        ],
        "bubble": ["slam", "loud", "gentle", "invisible"],
    ]

    private static func check(effect: JSONValue) throws(LinqFailure) {
        guard let type = effect["type"]?.string, let name = effect["name"]?.string,
            effects[type]?.contains(name) == true
        else { throw .badValue("unknown effect") }
    }

    private static func object(_ json: JSONValue?, _ field: String) throws(LinqFailure) -> JSONValue? {
        switch json {
        case nil, .null?: nil
        case .object?: json
        default: throw .badValue("\(field) must be an object")
        }
    }

    private static func text(_ json: JSONValue?, _ field: String) throws(LinqFailure) -> String? {
        switch json {
        case nil, .null?: nil
        case .string(let text)?: text
        default: throw .badValue("\(field) must be a string")
        }
    }
}

/// `POST /v3/messages`: addressed to handles.
struct SendToHandles: Sendable, Equatable {
    /// As given, in a fixed order.
    let to: [String]
    let message: MessageContent
    let overridesOptOut: Bool

    init(checking body: [UInt8], keyHeader: String? = nil) throws(LinqFailure) {
        let json = try parsed(body)
        guard let to = json["to"]?.array, !to.isEmpty else { throw .missing("to") }
        guard to.count <= MessageContent.mostRecipients else {
            throw .badValue("at most \(MessageContent.mostRecipients) recipients")
        }
        var handles: [String] = []
        for handle in to {
            guard let text = handle.string else { throw .badValue("to must be an array of strings") }
            guard isHandle(text) else { throw .badHandle(text) }
            handles.append(text)
        }
        self.to = Set(handles).sorted()
        var message = try MessageContent(checking: json["message"])
        try message.useKey(ofHeader: keyHeader)
        self.message = message
        overridesOptOut = json["override_optout"]?.bool ?? false
    }
}

/// `POST /v3/chats/{chatId}/messages`.
struct SendToChat: Sendable, Equatable {
    let message: MessageContent
    let overridesOptOut: Bool

    init(checking body: [UInt8]) throws(LinqFailure) {
        let json = try parsed(body)
        message = try MessageContent(checking: json["message"])
        overridesOptOut = json["override_optout"]?.bool ?? false
    }
}

private func parsed(_ body: [UInt8]) throws(LinqFailure) -> JSONValue {
    do { return try JSONValue(parsing: body) } catch { throw .badJSON }
}

/// Whether it is a UUID in its usual form, in either case.
func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
}

/// Whether it is an E.164 number or looks like an e-mail address.
func isHandle(_ text: String) -> Bool {
    if text.hasPrefix("+") {
        let digits = text.dropFirst()
        return (2...15).contains(digits.count) && digits.allSatisfy { $0.isASCII && $0.isNumber } && digits.first != "0"
    }
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    return halves.count == 2 && halves.allSatisfy { !$0.isEmpty } && !text.contains(where: \.isWhitespace)
}
