import AMQP
import Foundation
import Runtime
import Shared

/// Puts ready-made work into a stage's queues: a text, an island or a reply of each of many users, round and round.
enum FillQueue {
    static func run(_ options: [String: String]) async throws -> any Encodable {
        let endpoint = try AMQPEndpoint(url: try options.text("url"))
        let partitions = try options.number("partitions")
        let users = try options.number("users")
        let count = try options.number("count")
        let publisher = AMQPPublisher(
            endpoint, name: "load/fill", window: 4096, confirmTimeout: .seconds(60), maxQueued: count + 1,
            log: Log(service: "load", level: .warning), metrics: Metrics())
        publisher.start()
        try await publisher.waitUntilReady(within: .seconds(10))
        guard let stage = Stage(rawValue: try options.text("stage")) else { throw Failure(description: "--stage") }
        let first = try options.number("first-user", default: 0)
        let failed = Locked<String?>(nil)
        let start = monotonicSeconds()
        await withCheckedContinuation { continuation in
            let left = Locked(count)
            for number in 0..<count {
                let user = MadeUpUser(first + number % users)
                let (message, key) =
                    switch stage {
                    case .inbound: text(number, user)
                    case .replies: reply(user)
                    case .islands: island(user, sequence: number / users)
                    }
                let routingKey = Partition.name(Partition.of(key, among: partitions))
                publisher.publish(message, exchange: stage.exchange, routingKey: routingKey) { result in
                    if case .failure(let error) = result { failed.withLock { $0 = "\(error)" } }
                    let isLast = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        let seconds = monotonicSeconds() - start
        await publisher.close()
        if let failed = failed.withLock({ $0 }) { throw Failure(description: failed) }
        return Rate(count, in: seconds)
    }

    private static func text(_ number: Int, _ user: MadeUpUser) -> (AMQPMessage, String) {
        let now = Timestamp(Date())
        let message = InboundMessage(
            messageID: UUID().uuidString.lowercased(), chat: Chat(id: user.chatID, isGroup: false), sender: user.handle,
            service: .iMessage, parts: [MessagePart(type: "text", value: "snack, 10 cal")], receivedAt: now)
        let event = InboundEvent(handle: user.handle, content: .message(message))
        return (self.message(event, type: event.type), user.handle)
    }

    private static func island(_ user: MadeUpUser, sequence: Int) -> (AMQPMessage, String) {
        let now = Timestamp(Date())
        let state = #"{"calories":\#(10 * sequence + 10),"goal":2100,"lastMeal":"Chicken bowl · 600 cal","streak":6}"#
        let desired = DesiredIsland(
            handle: user.handle, userID: user.id, attributesType: CoachAttributes.attributesType,
            sessionID: user.sessionID, sessionStartedAt: now, timestamp: now.secondsSince1970 + Int64(sequence),
            desired: .show(
                DesiredIsland.Card(contentState: state, staleDate: now.secondsSince1970 + 3600, alert: nil)),
            priority: 10, receivedAt: now)
        return (message(desired, type: DesiredIsland.type), user.handle)
    }

    private static func reply(_ user: MadeUpUser) -> (AMQPMessage, String) {
        let now = Timestamp(Date())
        let reply = ReplyRequest(
            chat: Chat(id: user.chatID, isGroup: false), to: user.handle,
            idempotencyKey: UUID().uuidString.lowercased(),
            parts: [MessagePart(type: "text", value: "Logged the chicken bowl, 600 cal. 1,240 of 2,100 cal today.")],
            receivedAt: now, expiresAt: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + 900_000))
        return (message(reply, type: ReplyRequest.type), user.chatID)
    }

    private static func message(_ payload: some Encodable & Sendable, type: String) -> AMQPMessage {
        let id = UUID().uuidString.lowercased()
        let traceparent = "00-\(UUID().uuidString.lowercased().filter { $0 != "-" })-00f067aa0ba902b7-00"
        let event = CloudEvent(
            id: id, source: "agent", type: type, time: Timestamp(Date()), traceparent: traceparent, data: payload)
        // Texts and numbers always have an encoding.
        let body = (try? event.encoded()) ?? []
        return AMQPMessage(
            id: id, type: type, timestamp: Timestamp(Date()).secondsSince1970,
            contentType: "application/cloudevents+json", headers: ["traceparent": traceparent], body: body)
    }
}
