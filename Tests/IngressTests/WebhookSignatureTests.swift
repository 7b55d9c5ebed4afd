import Foundation
import Testing

@testable import Ingress

@Suite struct `Webhook signature` {
    /// The example delivery of Linq's documentation, minified.
    private static let linqBody = #"""
        {"api_version":"v3","webhook_version":"2026-02-03","event_type":"message.received","event_id":"2915e81c-5068-4796-ace2-21d2c94ad298","created_at":"2026-02-05T19:31:13.736444093Z","trace_id":"8af9171a45022df2eb74ba4e4c83be0f","partner_id":"your-partner-id","data":{"chat":{"id":"8f392755-6865-4b18-880a-227f9d8b458f","is_group":false,"owner_handle":{"handle":"+12025551234","id":"6d6c617f-187a-4dcd-a0d5-988347a8c092","is_me":true,"joined_at":"2026-01-04T05:48:51.321469Z","left_at":null,"service":"iMessage","status":"active"},"health_status":{"status":"HEALTHY","doc_url":"https://docs.linqapp.com/guides/chats/chat-health#healthy","updated_at":"2026-02-05T19:31:12.000Z"}},"id":"89e3566e-1d13-49e5-a8ee-48490d5bfeb7","direction":"inbound","sender_handle":{"handle":"+12025559876","id":"e604375a-5913-483a-8278-c631e8f0ffda","is_me":false,"joined_at":"2026-01-04T05:48:51.321469Z","left_at":null,"service":"iMessage","status":"active"},"parts":[{"type":"text","value":"Hello!"}],"effect":null,"reply_to":null,"sent_at":"2026-02-05T19:31:13.074Z","delivered_at":null,"read_at":null,"service":"iMessage"}}
        """#

    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let secret: String
        let id: String
        let timestamp: Int64
        let body: String
        let signature: String

        var testDescription: String { name }
    }

    /// Standard Webhooks' own vectors (Python, Rust) and Linq-shaped ones, each recomputed with a library not ours.
    static let vectors = [
        Vector(
            name: "A", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330, body: #"{"test": 2432232314}"#,
            signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        Vector(
            name: "B", secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            timestamp: 1_649_367_553, body: #"{"email":"test@example.com","username":"test_user"}"#,
            signature: "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
        Vector(
            name: "32-byte secret", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=",
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: #"{"test": 2432232314}"#,
            signature: "v1,2v/2kuE8/PDii7VbJKonVoCbYbVF2AKvQ9dDkU8cdlM="),
        Vector(
            name: "unpadded secret", secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr", id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330, body: #"{"test": 2432232314}"#,
            signature: "v1,yK2tMbA6BHPrMEJ1lLv7UlJJbgFoqGenJkiajZ29evg="),
        Vector(
            name: "empty body", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330, body: "", signature: "v1,v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A="),
        Vector(
            name: "Linq", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=",
            id: "2915e81c-5068-4796-ace2-21d2c94ad298", timestamp: 1_770_319_873, body: linqBody,
            signature: "v1,g03l9GBhOjSl5Il+rUyh1dGs0dgM2FPuLh3E1sze3nc="),
        Vector(
            name: "emoji", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=", id: "evt_1",
            timestamp: 1_770_319_873, body: #"{"value":"Happy birthday 🎂! 🎉🎉"}"#,
            signature: "v1,bY9L18imLMy6fMAen78v83FSAy+MVasj0TGgrHYb+7M="),
    ]

    private func judge(
        _ secrets: [String], _ headers: [String: String], _ body: String, now: Int64
    ) throws -> WebhookSignature.Judgement {
        let secrets = try secrets.map { try #require(WebhookSecret($0)) }
        return WebhookSignature(secrets: secrets).judge(body: Array(body.utf8), now: now) { headers[$0] }
    }

    private func headers(_ vector: Vector, signature: String? = nil) -> [String: String] {
        [
            "webhook-id": vector.id, "webhook-timestamp": "\(vector.timestamp)",
            "webhook-signature": signature ?? vector.signature,
        ]
    }

    @Test(arguments: vectors) func `a right signature is genuine`(vector: Vector) throws {
        #expect(try judge([vector.secret], headers(vector), vector.body, now: vector.timestamp) == .genuine)
    }

    @Test(arguments: vectors) func `a changed body, id or time is forged`(vector: Vector) throws {
        let now = vector.timestamp
        #expect(try judge([vector.secret], headers(vector), vector.body + " ", now: now) == .forged)
        var changed = headers(vector)
        changed["webhook-id"] = "x" + vector.id
        #expect(try judge([vector.secret], changed, vector.body, now: now) == .forged)
        changed = headers(vector)
        changed["webhook-timestamp"] = "\(now + 1)"
        #expect(try judge([vector.secret], changed, vector.body, now: now) == .forged)
    }

    @Test(arguments: [
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLawdd",
        "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=", "v1,dawfeoifkpqwoekfpqoekf", "v1,", "v1,g0hM9",
        "invalid_signature", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "", " ", ",", "v1",
        "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "V1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE-OTPJTGt_tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ])
    func `a wrong or malformed signature is forged`(signature: String) throws {
        let vector = Self.vectors[0]
        #expect(
            try judge([vector.secret], headers(vector, signature: signature), vector.body, now: vector.timestamp)
                == .forged)
    }

    @Test func `any right signature among several is enough, up to ten`() throws {
        let vector = Self.vectors[0]
        let wrong = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
        let mixed = "\(wrong) v2,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= \(vector.signature) \(wrong)"
        let now = vector.timestamp
        #expect(try judge([vector.secret], headers(vector, signature: mixed), vector.body, now: now) == .genuine)
        let tooMany = Array(repeating: wrong, count: 10).joined(separator: " ") + " " + vector.signature
        #expect(try judge([vector.secret], headers(vector, signature: tooMany), vector.body, now: now) == .forged)
    }

    @Test func `what follows the blank does not change it, even a mark that joins it`() throws {
        let vector = Self.vectors[0]
        let joined = "\(vector.signature) \u{34A}"
        let now = vector.timestamp
        #expect(try judge([vector.secret], headers(vector, signature: joined), vector.body, now: now) == .genuine)
    }

    @Test func `during a rotation either secret is good`() throws {
        let vector = Self.vectors[5]
        let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
        let now = vector.timestamp
        #expect(try judge([other, vector.secret], headers(vector), vector.body, now: now) == .genuine)
        let underOther = headers(vector, signature: "v1,txMNlJwM5Ajp3gqLQD3SdKPVYC3YT1VGuptsLu4SEHs=")
        #expect(try judge([other, vector.secret], underOther, vector.body, now: now) == .genuine)
        #expect(try judge([vector.secret], underOther, vector.body, now: now) == .forged)
    }

    @Test func `five minutes either way are tolerated, a second more is not`() throws {
        let vector = Self.vectors[0]
        for offset: Int64 in [-300, 300] {
            #expect(
                try judge([vector.secret], headers(vector), vector.body, now: vector.timestamp + offset) == .genuine)
        }
        for offset: Int64 in [-301, 301] {
            #expect(
                try judge([vector.secret], headers(vector), vector.body, now: vector.timestamp + offset)
                    == .outsideTolerance)
        }
    }

    @Test(arguments: ["webhook-id", "webhook-timestamp", "webhook-signature"])
    func `a missing header is forged`(name: String) throws {
        let vector = Self.vectors[0]
        var incomplete = headers(vector)
        incomplete[name] = nil
        #expect(try judge([vector.secret], incomplete, vector.body, now: vector.timestamp) == .forged)
    }

    @Test(arguments: ["hello", "-1614265330", "+1614265330", "1614265330.0", "1614265330 ", "", "99999999999999999999"])
    func `a timestamp that is not digits alone is forged`(timestamp: String) throws {
        let vector = Self.vectors[0]
        var odd = headers(vector)
        odd["webhook-timestamp"] = timestamp
        #expect(try judge([vector.secret], odd, vector.body, now: vector.timestamp) == .forged)
    }

    @Test func `an id that could shift the fields is forged`() throws {
        let vector = Self.vectors[0]
        for id in ["a.b", "", String(repeating: "a", count: 129), "a b", "ä"] {
            var odd = headers(vector)
            odd["webhook-id"] = id
            #expect(try judge([vector.secret], odd, vector.body, now: vector.timestamp) == .forged)
        }
    }

    // The older scheme: hex over timestamp.body, the whole secret as key.
    private static let legacy = "1c41e8323b38a974fb0255ad83572cb3d596caacbd00c0816aac81e3b1687e4d"

    @Test func `the older headers count where the newer ones are absent`() throws {
        let vector = Self.vectors[5]
        let older = ["x-webhook-timestamp": "1770319873", "x-webhook-signature": Self.legacy]
        #expect(try judge([vector.secret], older, vector.body, now: vector.timestamp) == .genuine)
        #expect(try judge([vector.secret], older, vector.body + " ", now: vector.timestamp) == .forged)
        #expect(try judge([vector.secret], older, vector.body, now: vector.timestamp + 301) == .outsideTolerance)
        #expect(
            try judge(["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"], older, vector.body, now: vector.timestamp) == .forged)
    }

    @Test func `a wrong newer signature is not made up for by a right older one`() throws {
        let vector = Self.vectors[5]
        var both = headers(vector, signature: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=")
        both["x-webhook-timestamp"] = "1770319873"
        both["x-webhook-signature"] = Self.legacy
        #expect(try judge([vector.secret], both, vector.body, now: vector.timestamp) == .forged)
    }

    @Test(arguments: ["", "whsec_", "whsec_!!!", "whsec_====", "=", "whsec_a"])
    func `a secret without a key in it is refused`(text: String) { #expect(WebhookSecret(text) == nil) }
}
