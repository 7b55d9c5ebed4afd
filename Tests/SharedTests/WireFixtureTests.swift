import Foundation
import Testing

@testable import Shared

/// Each message that crosses a queue, against its golden file.
struct WireFixtureTests {
    @Test func `inbound events`() throws {
        let message = InboundMessage(
            messageID: "89e3566e", chat: chat, sender: handle, service: .iMessage,
            parts: [
                MessagePart(type: "text", value: "just had a chicken bowl, ~600 cal"),
                MessagePart(
                    type: "media", url: "https://cdn.linqapp.com/a.jpg", mimeType: "image/jpeg", filename: "a.jpg",
                    size: 245_678),
            ],
            replyTo: "347d62c2", sentAt: Timestamp("2026-02-05T19:31:13.074Z"), receivedAt: time)
        try check("message", InboundEvent(handle: handle, content: .message(message)))
        #expect(message.text == "just had a chicken bowl, ~600 cal")
        let passedOn = InboundMessage(
            messageID: "89e3566e", chat: Chat(id: "g", isGroup: true), sender: "sam@example.com",
            service: MessageService(rawValue: "Satellite"), parts: [], mentionsLine: true, isReconciled: true,
            receivedAt: time)
        try check(
            "message-passed-on", InboundEvent(handle: handle, isPassedOn: true, content: .message(passedOn)),
            traceparent: nil)
        let reaction = InboundReaction(
            chat: chat, sender: handle, service: .iMessage, messageID: "89e3566e", reaction: "custom", emoji: "🍕",
            isAdded: true, receivedAt: time)
        try check("reaction", InboundEvent(handle: handle, content: .reaction(reaction)))
        let edit = InboundEdit(
            messageID: "89e3566e", chat: chat, sender: handle, partIndex: 0, text: "chicken bowl, 500 cal",
            receivedAt: time)
        try check("edit", InboundEvent(handle: handle, content: .edit(edit)))
    }

    @Test func `inbound events that no user wrote`() throws {
        let custom = CustomEvent(name: "workout", payload: #"{"minutes":30}"#, receivedAt: time)
        try check("custom", InboundEvent(handle: handle, content: .custom(custom)))
        let due = SessionDue(sessionID: "s-1", dueAt: time)
        try check("session-due", InboundEvent(handle: handle, content: .sessionDue(due)))
        let reachable = IslandReachable(
            userID: "user-42", deviceID: "d-1", attributesType: "CoachAttributes", sessionID: "s-1")
        try check("island-reachable", InboundEvent(handle: handle, content: .islandReachable(reachable)))
        let changed = IdentityChanged(userID: "user-42", canonicalHandle: handle)
        try check("identity-changed", InboundEvent(handle: "sam@example.com", content: .identityChanged(changed)))
        let erased = IdentityChanged(userID: nil, canonicalHandle: handle, isErased: true)
        try check("identity-erased", InboundEvent(handle: handle, content: .identityChanged(erased)))
        let forgotten = IdentityChanged(
            userID: nil, canonicalHandle: handle, isErased: true, erasedUserID: "user-42")
        try check("user-erased", InboundEvent(handle: handle, content: .identityChanged(forgotten)))
        let moved = StateMoved(from: "sam@example.com", state: #"{"handle":"sam@example.com"}"#)
        let users = StateMoved(from: moved.from, state: moved.state, userID: "user-42")
        try check("users-state-moved", InboundEvent(handle: handle, isPassedOn: true, content: .stateMoved(users)))
        let lane = InboundEvent(handle: handle, isPassedOn: true, content: .laneDue(LaneDue(dueAt: time)))
        try check("lane-due", lane)
        try check("state-moved", InboundEvent(handle: handle, isPassedOn: true, content: .stateMoved(moved)))
    }

    @Test func `replies and Islands`() throws {
        let reply = ReplyRequest(
            chat: chat, to: handle, idempotencyKey: "evt-1.0", parts: [MessagePart(type: "text", value: "Got it!")],
            replyTo: "89e3566e", effect: ReplyRequest.Effect(type: "screen", name: "confetti"), receivedAt: time,
            expiresAt: try #require(Timestamp("2026-02-05T20:31:13.736Z")), marksRead: true)
        try check("reply", reply, type: ReplyRequest.type)
        let hint = ChatHint(chat: chat, kind: .typing, expiresAt: time)
        try check("chat-hint", hint, type: ChatHint.type)
        // Both go through one stage.
        let read = try ["reply", "chat-hint"].map {
            try CloudEvent<ChatMessage>(decoding: Fixture.bytes("Wire/\($0).json")).data
        }
        #expect(read == [.reply(reply), .hint(hint)])
        let card = DesiredIsland.Card(
            contentState: #"{"calories":600}"#, staleDate: 1_770_323_473,
            alert: DesiredIsland.Alert(title: "Goal reached", body: "2,100 of 2,100 cal today", sound: "default"),
            relevanceScore: 75.5)
        try check("island-show", island(.show(card)), type: DesiredIsland.type)
        let ending = DesiredIsland.Ending(contentState: #"{"calories":600}"#, dismissalDate: 1_770_323_473)
        try check("island-end", island(.end(ending)), type: DesiredIsland.type)
        try check("island-one-device", island(.show(card), deviceID: "d-1"), type: DesiredIsland.type)
    }

    @Test func `questions to the registry and its answers`() throws {
        try check("registry-lookup", RegistryLookup(handle: handle), type: RegistryLookup.type)
        try check("registry-user-lookup", RegistryUserLookup(userID: "user-42"), type: RegistryUserLookup.type)
        try check("registry-record", record, type: RegistryLookup.answerType)
        try check("registry-record-unknown", RegistryRecord.unknown(handle), type: RegistryLookup.answerType)
        try check("registry-start", start, type: RegistryStart.type)
        let fromUser = RegistryStart(
            userID: "user-42", deviceID: "d-1", attributesType: "CoachAttributes", sessionID: "s-1", generation: 0,
            timestamp: 1_770_319_873, isFromUser: true)
        try check("registry-start-from-user", fromUser, type: RegistryStart.type)
        let starting = RegistryRecord.Activity(
            attributesType: "CoachAttributes", sessionID: "s-1", generation: 0, state: .starting, activityID: nil,
            token: nil, environment: nil, bundleID: nil, registeredAt: time, startedAt: time, isStartUnknown: true)
        let pending = RegistryRecord(
            generation: 8, userID: "user-42", canonicalHandle: handle,
            devices: [.init(deviceID: "d-1", startTokens: [], activities: [starting])])
        try check("registry-record-start-unknown", pending, type: RegistryLookup.answerType)
        let answer = RegistryStartAnswer(isGranted: false, reason: "dismissed")
        try check("registry-start-answer", answer, type: RegistryStart.answerType)
    }

    @Test func `commands to the registry`() throws {
        try check("registry-start-refused", RegistryCommand.startRefused(start))
        let accepted = RegistryStart(
            userID: "user-42", deviceID: "d-1", attributesType: "CoachAttributes", sessionID: "s-1", generation: 0,
            grant: "g-1")
        try check("registry-start-accepted", RegistryCommand.startAccepted(accepted))
        try check(
            "registry-token-dead",
            .tokenDead(.init(userID: "user-42", token: "0bcd", at: time, reason: "Unregistered")))
        try check(
            "registry-environment-learned",
            .environmentLearned(.init(userID: "user-42", token: "0bcd", environment: .sandbox)))
        try check(
            "registry-activity-ended",
            .activityEnded(
                .init(userID: "user-42", deviceID: "d-1", attributesType: "CoachAttributes", token: "0bcd")))
    }

    @Test func `every type has a golden file`() throws {
        let types = try Set(Fixture.names(in: "Wire").map { try type(of: Fixture.bytes("Wire/\($0)")) })
        #expect(types.count == 22)
    }

    @Test(arguments: [
        "isthmus.message.received.v2", "isthmus.message.received", "isthmus.something.new.v1", "",
    ])
    func `a type or major version from the future is named, not guessed at`(type: String) throws {
        let bytes = try Fixture.bytes("Wire/message.json")
        let future = String(decoding: bytes, as: UTF8.self)
            .replacingOccurrences(of: "isthmus.message.received.v1", with: type)
        #expect(throws: UnsupportedWireType(type: type)) {
            try CloudEvent<InboundEvent>(decoding: Array(future.utf8))
        }
    }

    @Test func `another major version of CloudEvents, and an event for somebody else, are unsupported`() throws {
        let bytes = try Fixture.bytes("Wire/reply.json")
        #expect(throws: UnsupportedWireType(type: ReplyRequest.type)) { try CloudEvent<InboundEvent>(decoding: bytes) }
        #expect(throws: UnsupportedWireType(type: ReplyRequest.type)) {
            try CloudEvent<RegistryCommand>(decoding: bytes)
        }
        #expect(throws: UnsupportedWireType(type: ReplyRequest.type)) { try CloudEvent<DesiredIsland>(decoding: bytes) }
        #expect(throws: UnsupportedWireType(type: ReplyRequest.type)) { try CloudEvent<RegistryStart>(decoding: bytes) }
        let newer = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: #""1.0""#, with: #""2.0""#)
        #expect(throws: UnsupportedWireType(type: "CloudEvents 2.0")) {
            try CloudEvent<ReplyRequest>(decoding: Array(newer.utf8))
        }
    }

    @Test func `a missing field is a decoding error with its path`() throws {
        let bytes = try Fixture.bytes("Wire/reply.json")
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: #""isGroup""#, with: #""group""#)
        #expect {
            try CloudEvent<ReplyRequest>(decoding: Array(text.utf8))
        } throws: { error in
            guard case DecodingError.keyNotFound(let key, let context)? = error as? DecodingError else { return false }
            return (context.codingPath + [key]).map(\.stringValue) == ["data", "chat", "isGroup"]
        }
    }

    // MARK: - What the files say

    private let handle = "+12025559876"
    private let chat = Chat(id: "8f392755-6865-4b18-880a-227f9d8b458f", isGroup: false)
    private let time = Timestamp(millisecondsSince1970: 1_770_319_873_736)
    private let start = RegistryStart(
        userID: "user-42", deviceID: "d-1", attributesType: "CoachAttributes", sessionID: "s-1", generation: 0)

    private func island(_ desired: DesiredIsland.Desired, deviceID: String? = nil) -> DesiredIsland {
        DesiredIsland(
            handle: handle, userID: "user-42", attributesType: "CoachAttributes", sessionID: "s-1",
            sessionStartedAt: time, generation: 1, timestamp: 1_770_319_873, desired: desired, priority: 10,
            receivedAt: deviceID == nil ? time : nil, deviceID: deviceID)
    }

    private var record: RegistryRecord {
        let token = RegistryRecord.StartToken(
            attributesType: "CoachAttributes", token: "80aa", environment: .production,
            bundleID: "com.example.coach", wantsInputPushToken: true, registeredAt: time)
        let live = RegistryRecord.Activity(
            attributesType: "CoachAttributes", sessionID: "s-1", generation: 0, state: .live, activityID: "A1",
            token: "0bcd", environment: .sandbox, bundleID: "com.example.coach", registeredAt: time, startedAt: time)
        let unknown = RegistryRecord.Activity(
            attributesType: "CoachAttributes", sessionID: nil, generation: 1,
            state: RegistryRecord.State(rawValue: "paused"), activityID: nil, token: nil, environment: nil,
            bundleID: nil, registeredAt: time, startedAt: time)
        return RegistryRecord(
            generation: 7, userID: "user-42", canonicalHandle: handle,
            devices: [.init(deviceID: "d-1", startTokens: [token], activities: [live, unknown])],
            timeZone: "America/New_York", locale: "en_US")
    }

    private func check(
        _ name: String, _ event: InboundEvent,
        traceparent: String? = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    ) throws {
        try check(name, event, type: event.type, traceparent: traceparent)
    }

    private func check(_ name: String, _ command: RegistryCommand) throws {
        try check(name, command, type: command.type)
    }

    /// The value is written as the file has it, the file is read as the value, and fields that it may have one day
    /// change nothing.
    private func check<Payload: JSONPayload & JSONWritable & Equatable>(
        _ name: String, _ payload: Payload, type: String,
        traceparent: String? = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    ) throws {
        let golden = try Fixture.bytes("Wire/\(name).json")
        let event = CloudEvent(
            id: "evt-1", source: "isthmus/ingress", type: type, time: time, traceparent: traceparent, data: payload)
        #expect(try jsonObject(try event.encoded()) == jsonObject(golden), "\(name) is written otherwise")
        for bytes in [golden, try withUnknownFields(golden)] {
            let read = try CloudEvent<Payload>(decoding: bytes)
            #expect(read.data == payload)
            #expect(read.id == "evt-1" && read.source == "isthmus/ingress" && read.time == time)
            #expect(read.type == type && read.traceparent == traceparent)
        }
        #expect(JSONTape.value(CloudEvent<Payload>.self, of: golden) != nil, "\(name) is not read the short way")
        #expect(JSONWriter.bytes(of: event, sortsKeys: false) != nil, "\(name) is not written the short way")
        let direct = JSONOutput.bytes(of: event, sortsKeys: false)
        #expect(
            direct != nil && direct == JSONWriter.bytes(of: event, sortsKeys: false), "\(name) writes itself otherwise")
        #expect(JSONInput.value(of: golden, CloudEvent<Payload>.init(json:))?.data == payload, "\(name)")
    }

    /// The same JSON with a field more in every object.
    private func withUnknownFields(_ bytes: [UInt8]) throws -> [UInt8] {
        func grown(_ value: Any) -> Any {
            if let object = value as? [String: Any] {
                return object.mapValues(grown).merging(["fromTheFuture": ["x": [1, NSNull()]]]) { old, _ in old }
            }
            return (value as? [Any])?.map(grown) ?? value
        }
        let value = try JSONSerialization.jsonObject(with: Data(bytes))
        return Array(try JSONSerialization.data(withJSONObject: grown(value)))
    }

    private func type(of bytes: [UInt8]) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return try #require(object?["type"] as? String)
    }
}
