import Crypto
import Foundation
import Runtime
import Testing

/// The vectors of Standard Webhooks' reference libraries, at the level of HMAC: the key is the decoded secret, the bytes
/// are "id.timestamp.body".
@Suite struct StandardWebhooksTests {
    struct Vector: Sendable {
        let secret, id, timestamp, body, signature: String
    }

    static let vectors = [
        Vector(
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
            body: #"{"test": 2432232314}"#, signature: "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        Vector(
            secret: "C2FVsBQIhrscChlQIMV+b5sSYspob7oD", id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", timestamp: "1649367553",
            body: #"{"email":"test@example.com","username":"test_user"}"#,
            signature: "tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
        Vector(
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=", id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330", body: #"{"test": 2432232314}"#,
            signature: "2v/2kuE8/PDii7VbJKonVoCbYbVF2AKvQ9dDkU8cdlM="),
        Vector(
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
            body: "", signature: "v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A="),
        Vector(
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=", id: "2915e81c-5068-4796-ace2-21d2c94ad298",
            timestamp: "1770319873", body: linqDelivery, signature: "g03l9GBhOjSl5Il+rUyh1dGs0dgM2FPuLh3E1sze3nc="),
        Vector(
            secret: "C2FVsBQIhrscChlQIMV+b5sSYspob7oD", id: "2915e81c-5068-4796-ace2-21d2c94ad298",
            timestamp: "1770319873", body: linqDelivery, signature: "txMNlJwM5Ajp3gqLQD3SdKPVYC3YT1VGuptsLu4SEHs="),
        Vector(
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=", id: "evt_1", timestamp: "1770319873",
            body: #"{"value":"Happy birthday 🎂! 🎉🎉"}"#, signature: "bY9L18imLMy6fMAen78v83FSAy+MVasj0TGgrHYb+7M="),
        Vector(
            secret: "c2VjcmV0Cg==", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
            body: #"{"test": 2432232314}"#, signature: "7xqoRzulWWuJSToUd+L3AIcdAPlohInp5HkUw5Csz0k="),
    ]

    @Test(arguments: vectors) func `a webhook's signature comes out as in the reference libraries`(vector: Vector)
        throws
    {
        let key = HMACKey([UInt8](try #require(Data(base64Encoded: vector.secret))))
        let expected = [UInt8](try #require(Data(base64Encoded: vector.signature)))
        let code = key.authenticate(Array("\(vector.id).\(vector.timestamp).".utf8), Array(vector.body.utf8))
        #expect(constantTimeEqual(code, expected))
        let tampered = key.authenticate(
            Array("\(vector.id).\(vector.timestamp).".utf8), Array(vector.body.utf8) + [0x20])
        #expect(!constantTimeEqual(tampered, expected))
    }

    @Test func `the legacy scheme's key is the secret's own text`() {
        let key = HMACKey(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE=".utf8))
        let code = key.authenticate(Array("1770319873.".utf8), Array(linqDelivery.utf8))
        #expect(code.hexString == "1c41e8323b38a974fb0255ad83572cb3d596caacbd00c0816aac81e3b1687e4d")
    }

    @Test func `the delivery of the vectors is the 1104 bytes that it should be`() {
        #expect(linqDelivery.utf8.count == 1104)
        #expect(
            SHA256.hash(linqDelivery.utf8).hexString
                == "07e8b3a3b5f0fbbe66bc386787b0a0e57f32eec1429f267565a82dfb619d4222")
    }
}

/// A message as Linq delivers it.
private let linqDelivery = #"""
    {"api_version":"v3","webhook_version":"2026-02-03","event_type":"message.received",\#
    "event_id":"2915e81c-5068-4796-ace2-21d2c94ad298","created_at":"2026-02-05T19:31:13.736444093Z",\#
    "trace_id":"8af9171a45022df2eb74ba4e4c83be0f","partner_id":"your-partner-id",\#
    "data":{"chat":{"id":"8f392755-6865-4b18-880a-227f9d8b458f","is_group":false,\#
    "owner_handle":{"handle":"+12025551234","id":"6d6c617f-187a-4dcd-a0d5-988347a8c092","is_me":true,\#
    "joined_at":"2026-01-04T05:48:51.321469Z","left_at":null,"service":"iMessage","status":"active"},\#
    "health_status":{"status":"HEALTHY","doc_url":"https://docs.linqapp.com/guides/chats/chat-health#hea\#
    lthy","updated_at":"2026-02-05T19:31:12.000Z"}},"id":"89e3566e-1d13-49e5-a8ee-48490d5bfeb7",\#
    "direction":"inbound","sender_handle":{"handle":"+12025559876",\#
    "id":"e604375a-5913-483a-8278-c631e8f0ffda","is_me":false,"joined_at":"2026-01-04T05:48:51.321469Z",\#
    "left_at":null,"service":"iMessage","status":"active"},"parts":[{"type":"text","value":"Hello!"}],\#
    "effect":null,"reply_to":null,"sent_at":"2026-02-05T19:31:13.074Z","delivered_at":null,\#
    "read_at":null,"service":"iMessage"}}
    """#
