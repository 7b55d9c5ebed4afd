import Foundation
import Shared

/// What crosses the queues with every text, written and read: as it is, and over `Codable`.
enum JSONLoad {
    /// Microseconds for one value.
    struct Figures: Encodable {
        let encode, decode, codableEncode, codableDecode: Double
    }

    static func run(_ options: [String: String]) async throws -> any Encodable {
        let rounds = try options.number("rounds", default: 20)
        return [
            "inbound event": try figures(event(inbound, type: inbound.type), rounds),
            "reply": try figures(event(reply, type: ReplyRequest.type), rounds),
            "desired island": try figures(event(island, type: DesiredIsland.type), rounds),
            "record": try figures(event(record, type: RegistryLookup.answerType), rounds),
        ]
    }

    private static func figures<Payload: JSONPayload & JSONWritable>(
        _ event: CloudEvent<Payload>, _ rounds: Int
    ) throws -> Figures {
        let json = try event.encoded()
        var best = [Double](repeating: .infinity, count: 4)
        for _ in 0..<rounds {
            best[0] = min(best[0], try CodecLoad.time { _ = try event.encoded() })
            best[1] = min(best[1], try CodecLoad.time { _ = try CloudEvent<Payload>(decoding: json) })
            best[2] = min(best[2], try CodecLoad.time { try encodeGenerally(event) })
            best[3] = min(best[3], try CodecLoad.time { try decodeGenerally(CloudEvent<Payload>.self, from: json) })
        }
        return Figures(
            encode: best[0] * 1e6, decode: best[1] * 1e6, codableEncode: best[2] * 1e6, codableDecode: best[3] * 1e6)
    }

    // A value of which no more is known than this has no other way.

    private static func encodeGenerally(_ value: some Encodable) throws {
        _ = try JSON.encode(value, sortsKeys: false)
    }

    private static func decodeGenerally(_ type: (some Decodable).Type, from json: [UInt8]) throws {
        _ = try JSON.decode(type, from: json)
    }

    private static func event<Payload>(_ data: Payload, type: String) -> CloudEvent<Payload> {
        CloudEvent(
            id: "0b1f6a1e-6d0e-4e0c-9e52-0f4c0a9f1d10", source: "agent", type: type, time: time,
            traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", data: data)
    }

    // MARK: Values

    private static let handle = "+12025559876"
    private static let chat = Chat(id: "8f392755-6865-4b18-880a-227f9d8b458f", isGroup: false)
    private static let time = Timestamp(millisecondsSince1970: 1_770_319_873_736)

    private static let inbound = InboundEvent(
        handle: handle,
        content: .message(
            InboundMessage(
                messageID: "89e3566e-6865-4b18-880a-227f9d8b458f", chat: chat, sender: handle, service: .iMessage,
                parts: [MessagePart(type: "text", value: "just had a chicken bowl, ~600 cal")], sentAt: time,
                receivedAt: time)))

    private static let reply = ReplyRequest(
        chat: chat, to: handle, idempotencyKey: "0b1f6a1e-6d0e-4e0c-9e52-0f4c0a9f1d10.0",
        parts: [MessagePart(type: "text", value: "Got it! Chicken bowl · 600 cal. You have 860 cal left today.")],
        receivedAt: time, expiresAt: time, marksRead: true)

    private static let island = DesiredIsland(
        handle: handle, userID: "user-42", attributesType: CoachAttributes.attributesType,
        sessionID: "0b1f6a1e-6d0e-4e0c-9e52-0f4c0a9f1d10", sessionStartedAt: time, timestamp: 1_770_319_873,
        desired: .show(
            DesiredIsland.Card(
                contentState: #"{"calories":1240,"goal":2100,"lastMeal":"Chicken bowl · 600 cal","streak":6}"#,
                staleDate: 1_770_323_473, alert: nil)),
        priority: 10, receivedAt: time)

    private static let record = RegistryRecord(
        generation: 7, userID: "user-42", canonicalHandle: handle,
        devices: [
            RegistryRecord.Device(
                deviceID: "6d0e6a1e-0b1f-4e0c-9e52-0f4c0a9f1d10",
                startTokens: [
                    RegistryRecord.StartToken(
                        attributesType: CoachAttributes.attributesType, token: String(repeating: "80aa", count: 40),
                        environment: .production, bundleID: "com.example.coach", wantsInputPushToken: true,
                        registeredAt: time)
                ],
                activities: [
                    RegistryRecord.Activity(
                        attributesType: CoachAttributes.attributesType, sessionID: "s-1", generation: 0, state: .live,
                        activityID: "A1", token: String(repeating: "0bcd", count: 40), environment: .production,
                        bundleID: "com.example.coach", registeredAt: time, startedAt: time)
                ])
        ],
        timeZone: "America/New_York", locale: "en_US")
}
