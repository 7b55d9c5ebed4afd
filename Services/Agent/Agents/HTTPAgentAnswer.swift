import Foundation
import HTTPClient
import Runtime
import Shared

/// What an agent behind HTTP answers: replies, and what the Island shows now.
///
/// An answer without a body says nothing and leaves the Island as it is.
struct HTTPAgentAnswer {
    /// Replies to one event; more are a mistake.
    static let mostReplies = 20
    /// Media of one reply: what Linq takes in a message by their addresses.
    static let mostMedia = 40
    /// A state may be trusted for a week at most.
    static let longestStaleAfter = Duration.seconds(7 * 86400)

    let response: AgentResponse<[UInt8]>
    /// The kind of Island that the state is for, if the answer names it.
    let attributesType: String?

    init(_ response: HTTPClientResponse) throws(UnexpectedAnswer) {
        guard !response.body.isEmpty else {
            self.response = AgentResponse()
            attributesType = nil
            return
        }
        guard let json = AnyJSON(parsing: response.body) else {
            throw UnexpectedAnswer(path: "", expected: "JSON", found: "\(response.body.count) bytes that are none")
        }
        let answer = AnswerReader(json)
        try answer.requireObject(["replies", "island"])
        let replies = try Self.replies(answer.field("replies"))
        let island = answer.field("island")
        self.response = AgentResponse(replies: replies, island: try Self.island(island))
        attributesType = try island?.field("attributesType")?.text()
    }

    private static func replies(_ list: AnswerReader?) throws(UnexpectedAnswer) -> [AgentReply] {
        guard let list else { return [] }
        let elements = try list.list()
        guard elements.count <= mostReplies else {
            throw list.unexpected("at most \(mostReplies) replies", found: "\(elements.count)")
        }
        var replies: [AgentReply] = []
        for element in elements {
            try element.requireObject(["text", "media", "link", "effect", "replyTo"])
            let media = try media(element.field("media"))
            let link = try element.field("link")?.text()
            // A link or a picture may go without words.
            let needsText = link == nil && media.isEmpty
            let text = needsText ? try element.requireText("text") : try element.field("text")?.text() ?? ""
            replies.append(
                AgentReply(
                    text, media: media, link: link, effect: try effect(element.field("effect")),
                    replyTo: try element.field("replyTo")?.text()))
        }
        return replies
    }

    private static func media(_ list: AnswerReader?) throws(UnexpectedAnswer) -> [String] {
        guard let list else { return [] }
        let elements = try list.list()
        guard elements.count <= mostMedia else {
            throw list.unexpected("at most \(mostMedia) addresses", found: "\(elements.count)")
        }
        var media: [String] = []
        for element in elements {
            let url = try element.text()
            guard url.hasPrefix("https://") else { throw element.unexpected("an https:// address") }
            media.append(url)
        }
        return media
    }

    private static func effect(_ reader: AnswerReader?) throws(UnexpectedAnswer) -> ReplyRequest.Effect? {
        guard let reader else { return nil }
        try reader.requireObject(["type", "name"])
        return ReplyRequest.Effect(type: try reader.requireText("type"), name: try reader.requireText("name"))
    }

    private static func island(_ island: AnswerReader?) throws(UnexpectedAnswer) -> AgentIsland<[UInt8]> {
        guard let island else { return .unchanged }
        try island.requireObject(["show", "end", "alert", "priority", "staleAfter", "attributesType"])
        // `{"end": null}` ends the card with the state that it has.
        if let end = island.value["end"] {
            guard island.value["show"] == nil else { throw island.unexpected("show or end, not both") }
            return .end(end == .null ? nil : end.bytes)
        }
        guard let state = island.value["show"] else { throw island.unexpected("show or end", found: "neither") }
        return .show(
            state.bytes, alert: try alert(island.field("alert")), priority: try priority(island.field("priority")),
            staleAfter: try staleAfter(island.field("staleAfter")))
    }

    private static func alert(_ reader: AnswerReader?) throws(UnexpectedAnswer) -> DesiredIsland.Alert? {
        guard let reader else { return nil }
        try reader.requireObject(["title", "body", "sound"])
        return DesiredIsland.Alert(
            title: try reader.requireText("title"), body: try reader.requireText("body"),
            sound: try reader.field("sound")?.text())
    }

    private static func priority(_ reader: AnswerReader?) throws(UnexpectedAnswer) -> AgentPriority {
        guard let reader else { return .now }
        guard case .integer(let number) = reader.value, let priority = AgentPriority(rawValue: Int(number)) else {
            throw reader.unexpected("10 or 5")
        }
        return priority
    }

    /// Seconds, or text such as "15m".
    private static func staleAfter(_ reader: AnswerReader?) throws(UnexpectedAnswer) -> Duration? {
        guard let reader else { return nil }
        let duration: Duration? =
            switch reader.value {
            case .integer(let seconds) where seconds <= 1_000_000_000: .seconds(seconds)
            case .string(let text): Duration(text)
            default: nil
            }
        guard let duration, duration > .zero, duration <= longestStaleAfter else {
            throw reader.unexpected("seconds, or text such as \"15m\", of a week at most")
        }
        return duration
    }
}
