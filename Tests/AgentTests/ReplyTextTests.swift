import Shared
import Testing

@testable import Agent

@Suite struct ReplyTextTests {
    @Test func `a text beyond Linq's length goes out in pieces that make the text again`() {
        #expect(ReplyText.split("").isEmpty)
        #expect(ReplyText.split(String(repeating: "a", count: 10_000)).count == 1)
        #expect(ReplyText.split(String(repeating: "ä", count: 25_000)).map(\.count) == [10_000, 10_000, 5_000])
        let line = String(repeating: "word ", count: 20) + "\n"
        let texts = [
            String(repeating: line, count: 300), String(repeating: "word ", count: 5000),
            String(repeating: "👩‍👩‍👧‍👦", count: 3000), String(repeating: "e\u{301}", count: 12_000), "\r\n" + line,
        ]
        for text in texts {
            let pieces = ReplyText.split(text)
            #expect(pieces.joined() == text)
            #expect(pieces.allSatisfy { $0.utf16.count <= ReplyText.limit && !$0.isEmpty })
            // No letter is cut: there are as many of them as before.
            #expect(pieces.reduce(0) { $0 + $1.count } == text.count)
        }
        #expect(ReplyText.split(texts[0]).dropLast().allSatisfy { $0.hasSuffix("\n") })
        #expect(ReplyText.split(texts[1]).dropLast().allSatisfy { $0.hasSuffix(" ") })
    }

    @Test func `media go with the end of the text, and a link by itself`() {
        let picture = MessagePart(type: "media", url: "https://a.example/bowl.jpg")
        let link = MessagePart(type: "link", value: "https://a.example")
        func text(_ value: String) -> MessagePart { MessagePart(type: "text", value: value) }
        let media = ["https://a.example/bowl.jpg"]
        #expect(AgentReply("look", media: media + media).messages == [[text("look"), picture, picture]])
        #expect(AgentReply("", media: media, link: "https://a.example").messages == [[picture], [link]])
        let long = String(repeating: "a", count: 10_000)
        #expect(AgentReply(long + "b", media: media).messages == [[text(long)], [text("b"), picture]])
        #expect(AgentReply("").messages.isEmpty)
    }

    @Test func `a letter that is too long by itself is cut, and the text comes to an end`() {
        let text = "a" + String(repeating: "\u{301}", count: 25_000)
        #expect(text.count == 1)
        let pieces = ReplyText.split(text)
        #expect(pieces.map(\.utf16.count) == [10_000, 10_000, 5_001])
    }
}
