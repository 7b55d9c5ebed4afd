import Foundation
import TestSupport
import Testing

@testable import Shared

/// What writes and reads its own JSON does it as its `Codable` says.
@Suite struct DirectJSONTests {
    private static let time = Timestamp(millisecondsSince1970: 1_770_319_873_736)
    private static let chat = Chat(id: "8f392755", isGroup: true)

    @Test func `moments`() throws {
        let moments: [Int64] = [
            0, 1, -1, 999, -86_400_000, 951_782_400_000, 4_107_542_399_999, -62_167_219_200_000, -62_167_219_200_001,
            253_402_300_799_999, 253_402_300_800_000, 1_770_319_873_736,
        ]
        let samples = moments.map(Timestamp.init(millisecondsSince1970:))
        #expect(try JSONDifferences.ofWriting(samples) == [])
        #expect(try JSONDifferences.of([[Self.time]]) == [])
    }

    @Test func `plain values and lists of them`() throws {
        #expect(try JSONDifferences.of([JSONDifferences.texts, []]) == [])
        #expect(try JSONDifferences.of([[true, false]]) == [])
        #expect(try JSONDifferences.of([[0, 1, -1, 9, 10, 99, 100, .max, .min]]) == [])
        #expect(try JSONDifferences.of([[Int64.max, .min, 0, -10]]) == [])
        #expect(try JSONDifferences.of([[0.5, 75, -0.0, 1e300, 0.1, .pi, 1e16]]) == [])
        #expect(try JSONDifferences.of([["a": 1, "B": 2, "10": 3, "9": -4], [:]]) == [])
        #expect(JSONOutput.bytes(of: Double.nan, sortsKeys: false) == nil)
    }

    @Test func `inbound events`() throws {
        for contents in contents {
            let events = zip(JSONDifferences.texts, contents).enumerated().map { index, sample in
                InboundEvent(handle: sample.0, isPassedOn: index.isMultiple(of: 2), content: sample.1)
            }
            #expect(try differences(events, type: events[0].type) == [])
        }
    }

    @Test func `replies and hints`() throws {
        let replies = JSONDifferences.texts.map { text in
            ReplyRequest(
                chat: Chat(id: text, isGroup: false), to: text, idempotencyKey: text,
                parts: [MessagePart(type: "text", value: text), MessagePart(type: "link", value: "https://a/b")],
                replyTo: text, effect: ReplyRequest.Effect(type: "screen", name: text), receivedAt: Self.time,
                expiresAt: Self.time, marksRead: true)
        }
        let bare = ReplyRequest(
            chat: Self.chat, to: "", idempotencyKey: "", parts: [], receivedAt: nil, expiresAt: Self.time)
        #expect(try differences(replies + [bare], type: ReplyRequest.type) == [])
        let hints = JSONDifferences.texts.map { text in
            ChatHint(chat: Self.chat, kind: ChatHint.Kind(rawValue: text), expiresAt: Self.time)
        }
        #expect(try differences(hints, type: ChatHint.type) == [])
        let asMessages = try [
            event(bare, type: ReplyRequest.type).encoded(), event(hints[0], type: ChatHint.type).encoded(),
        ]
        for json in asMessages {
            #expect(JSONDifferences.ofReading(CloudEvent<ChatMessage>.self, json, areSame: areSame) == [])
        }
    }

    @Test func `desired Islands`() throws {
        let cards = JSONDifferences.texts.map { text in
            DesiredIsland.Card(
                contentState: text, staleDate: -1, alert: DesiredIsland.Alert(title: text, body: text, sound: text),
                relevanceScore: 75.5)
        }
        let bare = [nil, DesiredIsland.Alert(title: "", body: "")].map {
            DesiredIsland.Card(contentState: "{}", staleDate: 0, alert: $0)
        }
        let endings = [
            DesiredIsland.Ending(contentState: "{}", dismissalDate: 1_770_323_473),
            DesiredIsland.Ending(contentState: nil, dismissalDate: nil),
        ]
        #expect(try differences((cards + bare).map { island(.show($0)) }, type: DesiredIsland.type) == [])
        #expect(try differences(endings.map { island(.end($0)) }, type: DesiredIsland.type) == [])
    }

    @Test func `records of the registry`() throws {
        let records = JSONDifferences.texts.map(record) + [.unknown("+12025559876")]
        #expect(try differences(records, type: RegistryLookup.answerType) == [])
        #expect(try JSONDifferences.of(records) == [])
    }

    @Test func `questions to the registry and their answers`() throws {
        let texts = JSONDifferences.texts
        #expect(try differences(texts.map { RegistryLookup(handle: $0) }, type: RegistryLookup.type) == [])
        #expect(try differences(texts.map { RegistryUserLookup(userID: $0) }, type: RegistryUserLookup.type) == [])
        let starts = texts.map {
            RegistryStart(
                userID: $0, deviceID: $0, attributesType: $0, sessionID: $0, generation: -1, timestamp: .max,
                isFromUser: true, grant: $0, mayRetry: false, token: $0)
        }
        let bare = RegistryStart(userID: "", deviceID: "", attributesType: "", sessionID: "", generation: 0)
        #expect(try differences(starts + [bare], type: RegistryStart.type) == [])
        let answers = texts.map { RegistryStartAnswer(isGranted: true, reason: $0, grant: $0) }
        let refusal = RegistryStartAnswer(isGranted: false, reason: nil)
        #expect(try differences(answers + [refusal], type: RegistryStart.answerType) == [])
    }

    @Test func `commands to the registry`() throws {
        for text in JSONDifferences.texts {
            let commands: [RegistryCommand] = [
                .startRefused(
                    RegistryStart(userID: text, deviceID: text, attributesType: "A", sessionID: "s", generation: 1)),
                .tokenDead(.init(userID: text, token: text, at: Self.time, reason: text)),
                .environmentLearned(.init(userID: text, token: text, environment: .production)),
                .activityEnded(
                    .init(userID: text, deviceID: text, attributesType: text, token: text, wasUnowned: true)),
                .activityEnded(.init(userID: text, deviceID: text, attributesType: text, token: text)),
            ]
            for command in commands {
                #expect(try differences([command], type: command.type) == [])
            }
        }
    }

    @Test func `the coach's states and attributes`() throws {
        let states = JSONDifferences.texts.map {
            CoachAttributes.ContentState(calories: .min, goal: 2100, streak: 0, lastMeal: $0)
        }
        #expect(try JSONDifferences.of(states) == [])
        #expect(try JSONDifferences.of(JSONDifferences.texts.map { CoachAttributes(userID: $0, sessionID: $0) }) == [])
        #expect(try JSONDifferences.of([CoachAttributes(userID: "user-42")]) == [])
    }

    // MARK: - Samples

    /// Of each kind of content a few, the first with all that it can have.
    private var contents: [[InboundEvent.Content]] {
        let texts = JSONDifferences.texts
        return [
            texts.map { .message(message($0, replyTo: $0)) }, [.message(message("m", replyTo: nil))],
            texts.map { .reaction(reaction($0, .sms, emoji: "🍕")) }, [.reaction(reaction("love", nil, emoji: nil))],
            texts.map { text in
                .edit(
                    InboundEdit(
                        messageID: text, chat: Self.chat, sender: "s", partIndex: -1, text: text, receivedAt: Self.time)
                )
            },
            texts.map { .custom(CustomEvent(name: $0, payload: $0, receivedAt: Self.time)) },
            texts.map { .sessionDue(SessionDue(sessionID: $0, dueAt: Self.time)) },
            [
                .islandReachable(
                    IslandReachable(userID: "u", deviceID: "d", attributesType: "A", sessionID: "s")),
                .islandReachable(IslandReachable(userID: "u", deviceID: "d", attributesType: "A", sessionID: nil)),
            ],
            [
                .identityChanged(
                    IdentityChanged(userID: "u", canonicalHandle: "h", isErased: true, erasedUserID: "v")),
                .identityChanged(IdentityChanged(userID: nil, canonicalHandle: "h")),
            ],
            texts.map { .stateMoved(StateMoved(from: "h", state: $0, userID: $0)) },
            [.stateMoved(StateMoved(from: "h", state: ""))], [.laneDue(LaneDue(dueAt: Self.time))],
        ]
    }

    private func message(_ text: String, replyTo: String?) -> InboundMessage {
        let parts = [
            MessagePart(type: "text", value: text),
            MessagePart(type: "media", url: text, mimeType: "image/jpeg", filename: text, size: -245_678),
        ]
        return InboundMessage(
            messageID: text, chat: Self.chat, sender: text, service: MessageService(rawValue: text),
            parts: replyTo == nil ? [] : parts, mentionsLine: replyTo == nil, replyTo: replyTo,
            isReconciled: replyTo != nil, sentAt: replyTo == nil ? nil : Self.time, receivedAt: Self.time)
    }

    private func reaction(_ text: String, _ service: MessageService?, emoji: String?) -> InboundReaction {
        InboundReaction(
            chat: Self.chat, sender: "s", service: service, messageID: "m", reaction: text, emoji: emoji,
            isAdded: emoji == nil, receivedAt: Self.time)
    }

    private func island(_ desired: DesiredIsland.Desired) -> DesiredIsland {
        let isForAll = if case .show(let card) = desired { card.alert == nil } else { false }
        return DesiredIsland(
            handle: "h", userID: "u", attributesType: "A", sessionID: "s", sessionStartedAt: Self.time, generation: 1,
            timestamp: .max, desired: desired, priority: 10, receivedAt: isForAll ? Self.time : nil,
            deviceID: isForAll ? nil : "d")
    }

    private func record(_ text: String) -> RegistryRecord {
        let tokens = [nil, APNSEnvironment.sandbox].map { environment in
            RegistryRecord.StartToken(
                attributesType: text, token: text, environment: environment,
                bundleID: environment == nil ? nil : text, wantsInputPushToken: environment == nil,
                registeredAt: Self.time)
        }
        let activities = [nil, APNSEnvironment.production].map { environment in
            let text = environment == nil ? nil : text
            return RegistryRecord.Activity(
                attributesType: "A", sessionID: text, generation: 0, state: .init(rawValue: text ?? "live"),
                activityID: text, token: text, environment: environment, bundleID: text, registeredAt: Self.time,
                startedAt: Self.time, isStartUnknown: environment == nil ? nil : false)
        }
        return RegistryRecord(
            generation: .max, userID: text, canonicalHandle: text,
            devices: [
                RegistryRecord.Device(deviceID: text, startTokens: tokens, activities: activities),
                RegistryRecord.Device(deviceID: "", startTokens: [], activities: []),
            ], timeZone: text, locale: text)
    }

    // MARK: - Events of them

    private func differences<Payload: JSONPayload & JSONWritable & Equatable>(
        _ payloads: [Payload], type: String
    ) throws -> [String] {
        let bare = CloudEvent(id: "", source: "", type: type, time: Self.time, traceparent: nil, data: payloads[0])
        return try JSONDifferences.of(payloads.map { event($0, type: type) }, areSame: areSame)
            + JSONDifferences.ofWriting(bare)
    }

    private func event<Payload>(_ data: Payload, type: String) -> CloudEvent<Payload> {
        CloudEvent(
            id: "evt-1", source: "isthmus/ingress", type: type, time: Self.time, traceparent: "00-4bf9",
            tracestate: "a=b", data: data)
    }

    private func areSame<Payload: Equatable>(_ left: CloudEvent<Payload>, _ right: CloudEvent<Payload>) -> Bool {
        left.id == right.id && left.source == right.source && left.type == right.type && left.time == right.time
            && left.traceparent == right.traceparent && left.tracestate == right.tracestate && left.data == right.data
    }
}
