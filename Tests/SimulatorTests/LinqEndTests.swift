import Foundation
import HTTPClient
import Shared
import TestSupport
import Testing

@testable import Simulator

@Suite struct LinqEndTests {
    private static func body(_ parts: JSONValue, to: JSONValue = ["+12025559876"], key: String? = nil) -> JSONValue {
        var message: [String: JSONValue] = ["parts": parts]
        if let key { message["idempotency_key"] = .string(key) }
        return ["to": to, "message": .object(message)]
    }

    private static let text: JSONValue = [["type": "text", "value": "Hello!"]]

    @Test func `a message to handles is taken and shown in the thread`() async throws {
        try await Rig.with { rig in
            let answer = try await rig.linq("POST", "/messages", Self.body(Self.text))
            #expect(answer.status == 202)
            #expect(answer.response.header("x-trace-id")?.count == 32)
            #expect(answer.json["message"]?["delivery_status"] == "pending")
            #expect(answer.json["message"]?["sent_at"] == .null)
            #expect(answer.json["created_new_chat"] == true)
            #expect(answer.json["from_selection"]?["reason"] == "new_best_number")
            let chat = try #require(answer.json["chat_id"]?.string)
            let again = try await rig.linq("POST", "/chats/\(chat)/messages", ["message": ["parts": Self.text]])
            #expect(again.status == 202)
            #expect(again.json["chat_id"]?.string == chat)
            let state = try await rig.control("GET", "/state?user=%2B12025559876")
            #expect(state.json["chats"]?.array?.first?["messages"]?.array?.count == 2)
        }
    }

    private static let refusals: [(JSONValue, Int, Int64)] = [
        (["message": ["parts": text]], 400, 1001),
        (["to": ["+12025559876"]], 400, 1001),
        (["to": [], "message": ["parts": text]], 400, 1001),
        (body(text, to: ["12025559876"]), 400, 1002),
        (body(text, to: ["not a handle"]), 400, 1002),
        (body([]), 400, 1001),
        (body([["type": "text", "value": "a"], ["type": "text", "value": "b"]]), 400, 1004),
        (body([["type": "text", "value": ""]]), 400, 1005),
        (body([["type": "text", "value": .string(String(repeating: "x", count: 10_001))]]), 400, 1005),
        (body([["type": "text"]]), 400, 1001),
        (body([["type": "link", "value": "https://a.example"], ["type": "text", "value": "a"]]), 400, 1004),
        (body([["type": "media"]]), 400, 1004),
        (body([["type": "media", "url": "http://a.example/x.jpg"]]), 400, 1005),
        (body([["type": "hologram"]]), 400, 1004),
        (body(text, key: ""), 400, 1005),
        (body(text, key: String(repeating: "k", count: 256)), 400, 1005),
        ("no object", 400, 1001),
    ]

    @Test func `what Linq refuses is refused with its code`() async throws {
        try await Rig.with { rig in
            for (body, status, code) in Self.refusals {
                let answer = try await rig.linq("POST", "/messages", body)
                #expect(answer.status == status, "\(body.text.prefix(200))")
                #expect(answer.json["success"] == false)
                #expect(answer.json["error"]?["code"]?.integer == code, "\(body.text.prefix(200))")
            }
            let longest = Self.body([["type": "text", "value": .string(String(repeating: "é", count: 10_000))]])
            #expect(try await rig.linq("POST", "/messages", longest).status == 202)
            let mixed: JSONValue = [
                ["type": "text", "value": "a"], ["type": "media", "url": "https://a.example/x.jpg"],
                ["type": "text", "value": "b"],
            ]
            #expect(try await rig.linq("POST", "/messages", Self.body(mixed)).status == 202)
        }
    }

    @Test func `tokens and chats are checked`() async throws {
        try await Rig.with { rig in
            let denied = try await rig.linq("POST", "/messages", Self.body(Self.text), token: "wrong")
            #expect(denied.status == 401)
            #expect(denied.json["error"]?["code"] == 2004)
            let bad = try await rig.linq("POST", "/chats/nonsense/messages", ["message": ["parts": Self.text]])
            #expect(bad.json["error"]?["code"] == 1005)
            let unknown = try await rig.linq(
                "POST", "/chats/8f392755-6865-4b18-880a-227f9d8b458f/messages", ["message": ["parts": Self.text]])
            #expect(unknown.status == 404)
            #expect(unknown.json["error"]?["code"] == 2001)
            let json = try await rig.send(
                "POST", "/api/partner/v3/messages", "not an object",
                headers: [("Authorization", "Bearer \(Rig.linqToken)")])
            #expect(json.status == 400)
        }
    }

    @Test func `a key that was used gets the first answer again and sends nothing`() async throws {
        try await Rig.with { rig in
            let first = try await rig.linq("POST", "/messages", Self.body(Self.text, key: "key-1"))
            let again = try await rig.linq("POST", "/messages", Self.body(Self.text, key: "key-1"))
            #expect(again.status == 202)
            #expect(again.response.body == first.response.body)
            let header = [("Idempotency-Key", "key-1")] as [(name: String, value: String)]
            let byHeader = try await rig.linq("POST", "/messages", Self.body(Self.text), headers: header)
            #expect(byHeader.response.body == first.response.body)
            let other = try await rig.linq("POST", "/messages", Self.body(Self.text, key: "key-2"))
            #expect(other.response.body != first.response.body)
            let counts = try await rig.control("GET", "/counts").json
            #expect(counts["linq"]?["repliesAccepted"] == 2)
            #expect(counts["linq"]?["repliesRepeated"] == 2)
        }
    }

    @Test func `who opted out gets nothing until they write again`() async throws {
        try await Rig.with { rig in
            _ = try await rig.control("POST", "/texts", ["from": "+12025559876", "text": " STOP ", "onboard": false])
            let refused = try await rig.linq("POST", "/messages", Self.body(Self.text))
            #expect(refused.status == 403)
            #expect(refused.json["error"]?["code"] == 2024)
            guard case .object(var members) = Self.body(Self.text) else { return }
            members["override_optout"] = true
            #expect(try await rig.linq("POST", "/messages", .object(members)).status == 202)
            #expect(try await rig.linq("POST", "/messages", Self.body(Self.text)).status == 403)
            _ = try await rig.control("POST", "/texts", ["from": "+12025559876", "text": "stop", "onboard": false])
            #expect(try await rig.linq("POST", "/messages", Self.body(Self.text)).status == 202)
        }
    }

    @Test func `typing and read marks show`() async throws {
        try await Rig.with { rig in
            let text: JSONValue = ["from": "+12025559876", "text": "hi", "onboard": false]
            let chat = try #require(try await rig.control("POST", "/texts", text).json["chatID"]?.string)
            func shown() async throws -> JSONValue? {
                try await rig.control("GET", "/state?user=%2B12025559876").json["chats"]?.array?.first
            }
            #expect(try await shown()?["messages"]?.array?.first?["readAt"]?.string == nil)
            #expect(try await rig.linq("POST", "/chats/\(chat)/typing").status == 204)
            #expect(try await rig.linq("POST", "/chats/\(chat)/read").status == 204)
            #expect(try await shown()?["isTyping"] == true)
            #expect(try await shown()?["typingUntil"]?.string != nil)
            #expect(try await shown()?["isRead"] == true)
            #expect(try await shown()?["messages"]?.array?.first?["readAt"]?.string != nil)
            #expect(try await rig.linq("DELETE", "/chats/\(chat)/typing").status == 204)
            #expect(try await shown()?["isTyping"] == false)
            let linq = try await rig.control("GET", "/counts").json["linq"]
            #expect(linq?["typingStarted"] == 1)
            #expect(linq?["typingStopped"] == 1)
            #expect(linq?["chatsRead"] == 1)
        }
    }

    @Test func `typing ends by itself, with a message, and never shows by SMS; a group has no read mark`() throws {
        let now = Date(timeIntervalSince1970: 1_770_319_873)
        var book = LinqBook(line: "+12025551234")
        let direct = book.chat(with: ["+12025559876"], service: "iMessage", id: nil)
        try book.setTyping(true, in: direct.id, at: now)
        #expect(book.chats[direct.id]?.isTyping(at: now.addingTimeInterval(84)) == true)
        #expect(book.chats[direct.id]?.isTyping(at: now.addingTimeInterval(86)) == false)
        let hello = Data(#"{"to":["+12025559876"],"message":{"parts":[{"type":"text","value":"Hello!"}]}}"#.utf8)
        _ = try book.send(SendToHandles(checking: Array(hello), keyHeader: nil), at: now)
        #expect(book.chats[direct.id]?.isTyping(at: now) == false)
        let green = book.chat(with: ["+12025550001"], service: "SMS", id: nil)
        try book.setTyping(true, in: green.id, at: now)
        #expect(book.chats[green.id]?.isTyping(at: now) == false)
        let group = book.chat(with: ["+12025550001", "+12025559876"], service: "iMessage", id: nil)
        try book.markRead(group.id, at: now)
        #expect(book.chats[group.id]?.isRead == false)
        #expect(throws: LinqFailure.chatNotFound) { try book.markRead(UUID().uuidString.lowercased(), at: now) }
        #expect(throws: LinqFailure.self) { try book.setTyping(true, in: "nonsense", at: now) }
    }

    @Test func `faults of read and typing leave sends alone`() async throws {
        try await Rig.with { rig in
            let text: JSONValue = ["from": "+12025559876", "text": "hi", "onboard": false]
            let chat = try #require(try await rig.control("POST", "/texts", text).json["chatID"]?.string)
            _ = try await rig.control("POST", "/faults", ["hints": "error", "count": 1])
            #expect(try await rig.linq("POST", "/messages", Self.body(Self.text)).status == 202)
            #expect(try await rig.linq("POST", "/chats/\(chat)/read").status == 500)
            #expect(try await rig.linq("POST", "/chats/\(chat)/read").status == 204)
        }
    }

    private static let faults: [(LinqFault, Int?, Int64?, Bool)] = [
        (.rateLimited, 429, 1007, false), (.error, 500, 3001, false), (.unavailable, 503, 4004, false),
        (.html, 502, nil, false), (.chatBeingCreated, 409, 2009, false), (.optedOut, 403, 2024, false),
        (.unauthorized, 401, 2004, false), (.reset, nil, nil, false), (.resetAfterAccepting, nil, nil, true),
        (.errorAfterAccepting, 500, 3001, true), (.withoutID, 202, nil, true), (.timeout, nil, nil, true),
    ]

    @Test(arguments: faults) func `a fault happens to the next request and to no other`(
        fault: LinqFault, status: Int?, code: Int64?, isTaken: Bool
    ) async throws {
        try await Rig.with { rig in
            let asked: JSONValue = ["linq": .string(fault.rawValue), "count": 1, "retryAfter": 7]
            #expect(try await rig.control("POST", "/faults", asked).status == 200)
            let headers = [("Authorization", "Bearer \(Rig.linqToken)")] as [(name: String, value: String)]
            do {
                let answer = try await rig.send(
                    "POST", "/api/partner/v3/messages", Self.body(Self.text, key: "k"), headers: headers,
                    within: fault == .timeout ? .seconds(1) : .seconds(30))
                #expect(answer.status == status)
                #expect(answer.json["error"]?["code"]?.integer == code)
                if fault == .rateLimited { #expect(answer.response.header("retry-after") == "7") }
                if fault == .withoutID { #expect(answer.json["message"] == nil) }
            } catch let error as HTTPClientError {
                #expect(status == nil, "\(error)")
                #expect(error.phase == .unknownOutcome)
            }
            let counts = try await rig.control("GET", "/counts").json
            #expect(counts["linq"]?["repliesAccepted"] == (isTaken ? 1 : 0))
            let next = try await rig.linq("POST", "/messages", Self.body(Self.text, key: "k"))
            #expect(next.status == 202)
            let after = try await rig.control("GET", "/counts").json
            #expect(after["linq"]?["repliesAccepted"] == 1)
        }
    }

    @Test func `subscriptions can be made, listed and removed`() async throws {
        try await Rig.with { rig in
            let asked: JSONValue = [
                "target_url": .string("http://127.0.0.1:\(rig.services.port)/webhook?version=2026-02-03"),
                "subscribed_events": ["message.received"],
            ]
            let made = try await rig.linq("POST", "/webhook-subscriptions", asked)
            #expect(made.status == 201)
            let secret = try #require(made.json["signing_secret"]?.string)
            #expect(WebhookSignature(secret: secret) != nil)
            let id = try #require(made.json["id"]?.string)
            #expect(try await rig.linq("POST", "/webhook-subscriptions", asked).status == 400)
            let list = try await rig.linq("GET", "/webhook-subscriptions")
            #expect(list.json["subscriptions"]?.array?.count == 2)
            #expect(try await rig.linq("DELETE", "/webhook-subscriptions/\(id)").status == 204)
            #expect(try await rig.linq("DELETE", "/webhook-subscriptions/\(id)").status == 404)
        }
    }
}
