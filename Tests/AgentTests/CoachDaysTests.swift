import Foundation
import Shared
import Testing

@testable import Agent

/// Midnight, time zones, and the streak.
struct CoachDaysTests {
    @Test(arguments: [
        // Before and after midnight of a plain day, and of days with 23, 25 and 23.5 hours.
        ("America/New_York", "2026-02-06T04:59:59Z", "2026-02-06T05:00:00Z"),
        ("America/New_York", "2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z"),
        ("America/New_York", "2026-03-09T03:59:59Z", "2026-03-09T04:00:00Z"),
        ("Europe/Berlin", "2026-10-24T21:59:59Z", "2026-10-24T22:00:00Z"),
        ("Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T13:29:59Z", "2026-10-03T13:30:00Z"),
        ("Australia/Lord_Howe", "2026-10-04T12:59:59Z", "2026-10-04T13:00:00Z"),
        ("Asia/Kathmandu", "2026-02-05T18:14:59Z", "2026-02-05T18:15:00Z"),
        ("Pacific/Kiritimati", "2026-02-05T09:59:59Z", "2026-02-05T10:00:00Z"),
        ("UTC", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"),
    ])
    func `the day turns at the user's midnight`(zone: String, before: String, after: String) async throws {
        var talk = CoachConversation(at: before, zone: zone)
        try await talk.say("pizza 800")
        #expect(talk.state.calories == 800)
        talk.move(to: after)
        let reply = try await talk.say("toast 90")
        #expect(talk.state.calories == 90)
        #expect(talk.state.streak == 2)
        #expect(reply.contains("Yesterday: 800 of 2,000 cal in one meal"))
        #expect(!(try await talk.say("coffee 20 cal").contains("Yesterday")))
    }

    @Test func `a streak grows by a day, waits for today and breaks with a missed day`() async throws {
        var talk = CoachConversation()
        for day in 1...5 {
            try await talk.say("toast 90")
            try await talk.say("soup 200")
            #expect(talk.state.streak == day)
            talk.moveDays(1)
        }
        try await talk.say("hi")
        #expect(talk.state.streak == 5)
        talk.moveDays(1)
        try await talk.say("hi")
        #expect(talk.state.streak == 0)
        try await talk.say("toast 90")
        #expect(talk.state.streak == 1)
    }

    @Test func `taking back today's only meal takes back today's part of the streak`() async throws {
        var talk = CoachConversation()
        try await talk.say("toast 90", id: "first")
        talk.moveDays(1)
        try await talk.say("toast 90", id: "second")
        #expect(talk.state.streak == 2)
        try await talk.say("undo")
        #expect(talk.state.streak == 1)
        talk.moveDays(1)
        try await talk.say("toast 90")
        #expect(talk.state.streak == 1)
    }

    @Test func `an undo, an answer or an edit does not reach over midnight`() async throws {
        var talk = CoachConversation()
        try await talk.say("pizza 800", id: "old")
        try await talk.say("burrito")
        talk.moveDays(1)
        #expect(try await talk.say("undo").contains("nothing to take back"))
        #expect(try await talk.send(talk.edit("old", to: "pizza 900")) == AgentResponse())
        try await talk.say("actually 300")
        #expect(talk.state.lastMeal == "Meal · 300 cal")
    }

    @Test func `the time zone that the user names holds, and flying west does not repeat a day`() async throws {
        var talk = CoachConversation(at: "2026-02-05T16:00:00Z")
        try await talk.say("toast 90")
        #expect(try await talk.say("I'm in Tokyo").contains("Tokyo"))
        try await talk.say("rice 200")
        #expect(talk.state.calories == 200)
        #expect(talk.state.streak == 2)
        try await talk.say("my timezone is America/Los_Angeles")
        try await talk.say("soup 100 cal")
        #expect(talk.state.calories == 300)
        #expect(talk.state.streak == 2)
        talk.move(to: "2026-02-07T07:59:00Z")
        try await talk.say("hi")
        #expect(talk.state.calories == 300)
        talk.move(to: "2026-02-07T08:00:00Z")
        try await talk.say("hi")
        #expect(talk.state.calories == 0)
    }

    @Test func `the end of a session after midnight shows the new day`() async throws {
        var talk = CoachConversation(at: "2026-02-05T23:30:00Z")
        try await talk.say("pizza 800")
        talk.move(to: "2026-02-06T00:30:00Z")
        let response = try await talk.send(.sessionEnding)
        #expect(
            response.island == .end(.init(calories: 0, goal: 2000, streak: 1, lastMeal: "No meals yet")))
        #expect(try await talk.say("hi").contains("Yesterday: 800"))
    }
}
