import Shared
import TestSupport
import Testing

@testable import Ingress

/// A body reads itself as its `Decodable` says.
@Suite struct `Linq payload` {
    /// Of every field, and of both versions.
    private static let bodies = [
        #"""
        {"api_version":"v3","webhook_version":"2026-02-03","event_type":"message.received","event_id":"evt-1",
        "trace_id":"8af9171a","partner_id":null,"data":{"chat":{"id":"8f39","is_group":false,"owner_handle":{"handle":"+1"}},
        "id":"89e3","direction":"inbound","sender_handle":{"handle":"+1 (202) 555-9876","is_me":false},
        "parts":[{"type":"text","value":"Hello \"you\"!\n🍕","mentions":[{"is_me":true},{"handle":"+1"}]},
        {"type":"media","url":"https:\/\/cdn\/x","mime_type":"image/jpeg","filename":"a.jpg","size_bytes":245678},
        {"type":"payment","value":{"amount":1},"url":7,"mime_type":[],"filename":true}],
        "reply_to":{"message_id":"347d","part_index":0},"effect":null,"sent_at":"2026-02-05T19:31:13.074Z",
        "service":"iMessage","reconciled_at":"2026-02-05T19:31:13Z","zero_retention":false}}
        """#,
        #"""
        {"event_type":"message.received","event_id":"evt-1","data":{"chat_id":"8f39","from":"+12025559876",
        "from_handle":{"handle":"+12025559876","is_me":false},"is_from_me":false,"is_group":true,
        "message":{"id":"89e3","parts":[{"type":"text","value":"Hello!"}],"reply_to":{"message_id":"347d"},
        "sent_at":"2026-02-05T19:31:13.074Z"},"received_at":"2026-02-05T19:31:13.074Z","recipient_phone":null}}
        """#,
        #"""
        {"event_type":"message.edited","event_id":"evt-1","data":{"chat":{"id":"8f39"},"id":"89e3",
        "sender_handle":{"handle":"+12025559876"},"part":{"index":1,"text":"no, 500"}}}
        """#,
        #"""
        {"event_type":"reaction.added","event_id":"evt-1","data":{"chat_id":"8f39","message_id":"89e3",
        "reaction_type":"custom","custom_emoji":"🍕","from":"sam@example.com"}}
        """#,
        #"{"event_type":"chat.created","data":[1,{"id":2}]}"#,
    ]

    @Test(arguments: 0..<5) func `reads itself as its Codable says`(_ index: Int) {
        let json = Array(Self.bodies[index].utf8)
        // All that a payload has is in its description.
        let areSame = { (left: LinqPayload, right: LinqPayload) in "\(left)" == "\(right)" }
        #expect(JSONDifferences.ofReading(LinqPayload.self, json, areSame: areSame) == [])
        #expect(JSONDifferences.ofReadingChanged(LinqPayload.self, json, areSame: areSame) == [])
    }

    @Test func `a control character is what Unicode calls one`() {
        for scalar in (0...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
            let isControl = scalar.properties.generalCategory == .control
            if LinqWebhook.isControl(scalar) != isControl { Issue.record("U+\(scalar.value)") }
        }
    }
}
