import Foundation
import Shared
import TestSupport
import Testing

@testable import Agent

/// What the agent keeps writes and reads its own JSON as its `Codable` says.
@Suite struct AgentJSONTests {
    private static let time = Timestamp(millisecondsSince1970: 1_770_319_873_736)

    @Test func `a user's state`() throws {
        let full = JSONDifferences.texts.map { text in
            var state = UserState(handle: text)
            state.userID = text
            state.model = text
            state.session = UserState.Session(
                id: text, startedAt: Self.time, lastActivityAt: Self.time, cardGeneration: 2, cardStartedAt: Self.time,
                isOpen: true, isByIMessage: false)
            state.island = UserState.Island(
                attributesType: text, contentState: text, timestamp: .max, staleDate: -1, dismissalDate: 1)
            state.lastChat = Chat(id: text, isGroup: false)
            state.lastSender = text
            state.lastTimestamps = ["CoachAttributes": 1_770_319_873, "A": -1]
            return state
        }
        var running = UserState(handle: "+12025559876")
        running.island = UserState.Island(
            attributesType: "CoachAttributes", contentState: "{}", timestamp: 1, staleDate: 2, dismissalDate: nil)
        #expect(try JSONDifferences.of(full + [running, UserState(handle: "")]) == [])
    }

    @Test func `a message that waits to go out`() throws {
        let texts = JSONDifferences.texts
        let waiting = try texts.map { text in
            try Outgoing(
                StateMoved(from: text, state: text), type: text, id: text, to: .inbound, key: text, partitions: 8,
                time: Self.time, traceparent: text.isEmpty ? nil : text)
        }
        #expect(try JSONDifferences.of(waiting) == [])
    }

    @Test func `the coach's model`() throws {
        let full = JSONDifferences.texts.map { text in
            let meals = [
                CoachModel.Meal(id: 1, label: text, calories: 600, messageID: text),
                CoachModel.Meal(id: -2, label: text, calories: .min, messageID: nil),
            ]
            var model = CoachModel()
            model.timeZone = text
            model.day = 20_489
            model.meals = meals
            model.streakDay = -1
            model.yesterday = CoachModel.PastDay(day: 20_488, calories: 1, goal: 2, meals: 3)
            model.changes = [
                CoachModel.Change(added: [1, 2], removed: meals, position: 1, goal: 2000), CoachModel.Change(),
            ]
            model.question = CoachModel.Question(label: text, messageID: text)
            return model
        }
        var asked = CoachModel()
        asked.question = CoachModel.Question(label: "soup", messageID: nil)
        #expect(try JSONDifferences.of(full + [asked, CoachModel()]) == [])
    }
}
