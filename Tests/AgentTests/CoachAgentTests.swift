import Foundation
import Shared
import Testing

@testable import Agent

/// What the coach answers, and what it shows.
struct CoachAgentTests {
    @Test func `the text of the brief is logged, answered and shown`() async throws {
        var talk = CoachConversation()
        try await talk.say("goal 2100")
        let response = try await talk.send(talk.message("just had a chicken bowl, ~600 cal"))
        let reply = try #require(response.replies.first?.text)
        #expect(reply.contains("Chicken bowl, 600 cal"))
        #expect(reply.contains("1,500"))
        #expect(
            response.island
                == .show(
                    .init(calories: 600, goal: 2100, streak: 1, lastMeal: "Chicken bowl · 600 cal"), priority: .now))
    }

    @Test func `every text in a direct chat gets exactly one reply, opt-outs none`() async throws {
        var talk = CoachConversation()
        for text in [
            "hi", "burrito", "👍", "how am I doing?", "help", "undo", "no lunch today", "7", "what did I eat", "?",
        ] {
            #expect(try await talk.send(talk.message(text)).replies.count == 1, "\(text)")
        }
        #expect(try await talk.send(talk.message("STOP")).replies.isEmpty)
        #expect(try await talk.send(talk.message("", hasPhoto: true)).replies.count == 1)
    }

    @Test func `food without a number is asked about, and the next number is its`() async throws {
        var talk = CoachConversation()
        #expect(try await talk.say("had a burrito").contains("Burrito"))
        #expect(talk.state.calories == 0)
        try await talk.say("about 700")
        #expect(talk.state.lastMeal == "Burrito · 700 cal")
    }

    @Test func `an implausible number is asked about and not logged`() async throws {
        var talk = CoachConversation()
        try await talk.say("burrito")
        #expect(try await talk.say("70000").contains("10,000"))
        #expect(talk.state.calories == 0)
        try await talk.say("700")
        #expect(talk.state.lastMeal == "Burrito · 700 cal")
        #expect(try await talk.say("goal 50").contains("500"))
        #expect(talk.state.goal == 2000)
    }

    @Test func `a correction changes the last meal and keeps its name`() async throws {
        var talk = CoachConversation()
        try await talk.say("toast 90")
        try await talk.say("pizza 800")
        try await talk.say("actually 700")
        #expect(talk.state.calories == 790)
        #expect(talk.state.lastMeal == "Pizza · 700 cal")
        try await talk.say("only ate half")
        #expect(talk.state.lastMeal == "Pizza · 350 cal")
        try await talk.say("undo")
        try await talk.say("undo")
        #expect(talk.state.lastMeal == "Pizza · 800 cal")
    }

    @Test func `undo takes back several meals of one text at once, goals, and clearing`() async throws {
        var talk = CoachConversation()
        try await talk.say("soup 200")
        try await talk.say("eggs 140 and toast 90")
        #expect(try await talk.say("undo").contains("Toast"))
        #expect(talk.state.calories == 200)
        try await talk.say("goal 1500")
        #expect(try await talk.say("undo").contains("2,000"))
        try await talk.say("reset")
        #expect(talk.state.lastMeal == "No meals yet")
        try await talk.say("undo")
        #expect(talk.state.calories == 200)
        try await talk.say("remove the soup")
        #expect(talk.state.calories == 0)
        #expect(try await talk.say("remove the cake").contains("don't see"))
    }

    @Test func `undo at the start has nothing to take back`() async throws {
        var talk = CoachConversation()
        #expect(try await talk.say("undo").contains("nothing to take back"))
    }

    @Test func `an edited message changes its meals, other edits change nothing`() async throws {
        var talk = CoachConversation()
        try await talk.say("toast 90", id: "a")
        try await talk.say("eggs 140 and juice 110", id: "b")
        let response = try await talk.send(talk.edit("a", to: "toast 120"))
        #expect(response.replies.count == 1)
        #expect(talk.state.calories == 370)
        _ = try await talk.send(talk.edit("b", to: "eggs 140"))
        #expect(talk.model.meals.map(\.label) == ["Toast", "Eggs"])
        #expect(try await talk.send(talk.edit("b", to: "eggs 140!")).replies.isEmpty)
        #expect(try await talk.send(talk.edit("unknown", to: "cake 900")) == AgentResponse())
        _ = try await talk.send(talk.edit("b", to: "nothing really"))
        #expect(talk.state.calories == 120)
        try await talk.say("undo")
        #expect(talk.state.calories == 260)
    }

    @Test func `a question that is edited into an answer is one`() async throws {
        var talk = CoachConversation()
        try await talk.say("burrito", id: "q")
        _ = try await talk.send(talk.edit("q", to: "burrito 700"))
        #expect(talk.state.lastMeal == "Burrito · 700 cal")
    }

    @Test func `reaching the goal is the one thing that alerts`() async throws {
        var talk = CoachConversation()
        var alerts: [Int] = []
        for calories in [900, 900, 300, 100] {
            let response = try await talk.send(talk.message("meal \(calories) cal"))
            if case .show(let state, let alert?, _, _) = response.island {
                alerts.append(state.calories)
                #expect(alert.title == "Goal reached")
            }
        }
        #expect(alerts == [2100])
        #expect(try await talk.say("how am I doing?").contains("200 over"))
    }

    @Test func `a reaction says nothing and shows nothing new`() async throws {
        var talk = CoachConversation()
        let reaction = InboundReaction(
            chat: Chat(id: "c", isGroup: false), sender: "+12025550123", service: .iMessage, messageID: "m1",
            reaction: "like", emoji: nil, isAdded: true, receivedAt: Timestamp(talk.now))
        #expect(try await talk.send(.reaction(reaction)) == AgentResponse())
    }

    @Test func `in a group only what mentions the coach is for it`() async throws {
        var talk = CoachConversation()
        #expect(try await talk.send(talk.message("pizza 800", isGroup: true)) == AgentResponse())
        #expect(try await talk.send(talk.message("pizza 800", isGroup: true, mentionsLine: true)).replies.count == 1)
    }

    @Test func `a text recovered late counts for today only, and gets no reply`() async throws {
        var talk = CoachConversation()
        let today = try await talk.send(talk.message("toast 90", isReconciled: true, sentAt: talk.now - 3600))
        #expect(today.replies.isEmpty)
        #expect(talk.state.calories == 90)
        _ = try await talk.send(talk.message("toast 90", isReconciled: true, sentAt: talk.now - 86400))
        #expect(talk.state.calories == 90)
    }

    @Test func `a meal from the team's backend moves the Island without a reply`() async throws {
        var talk = CoachConversation()
        let meal = CustomEvent(
            name: "meal", payload: #"{"calories":320.4,"label":"Soup"}"#, receivedAt: Timestamp(talk.now))
        let response = try await talk.send(.custom(meal))
        #expect(response.replies.isEmpty)
        #expect(talk.state.lastMeal == "Soup · 320 cal")
        let other = CustomEvent(name: "workout", payload: "{}", receivedAt: Timestamp(talk.now))
        #expect(try await talk.send(.custom(other)) == AgentResponse())
    }

    @Test func `the end of a session ends the Island with the last state`() async throws {
        var talk = CoachConversation()
        try await talk.say("toast 90")
        #expect(try await talk.send(.sessionEnding).island == .end(talk.state))
    }

    @Test func `a text that changes nothing keeps the Island fresh without hurry, a new session shows it at once`()
        async throws
    {
        var talk = CoachConversation()
        try await talk.say("toast 90")
        let same = try await talk.send(talk.message("thanks"))
        #expect(same.island == .show(talk.state, priority: .whenConvenient))
        let new = try await talk.send(talk.message("hi"), isNew: true)
        #expect(new.island == .show(talk.state, priority: .now))
    }

    @Test func `the same conversation gets the same replies, and they vary`() async throws {
        var first = CoachConversation()
        var second = CoachConversation()
        var replies: Set<String> = []
        for _ in 0..<5 {
            let reply = try await first.say("snack 100 cal")
            #expect(try await second.say("snack 100 cal") == reply)
            replies.insert(String(reply.prefix(4)))
        }
        #expect(replies.count >= 4)
    }

    @Test func `a day has room for a hundred meals, and undo for ten steps`() async throws {
        var talk = CoachConversation()
        for _ in 0..<CoachModel.mostMealsADay { try await talk.say("snack 100 cal") }
        #expect(try await talk.say("snack 100 cal").contains("more meals than"))
        #expect(talk.state.calories == 10_000)
        for _ in 0..<CoachModel.mostChanges { try await talk.say("undo") }
        #expect(try await talk.say("undo").contains("nothing to take back"))
        #expect(talk.state.calories == 9000)
        #expect(try JSONEncoder().encode(talk.model).count < 16_384)
    }

    @Test(arguments: 0..<200)
    func `whatever is said, totals stay in bounds and undo goes back exactly`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        var talk = CoachConversation()
        let texts = [
            "toast 90", "pizza 800", "eggs 140 and juice 110", "actually 500", "only ate half", "goal 1800",
            "goal 2400",
            "reset", "remove the pizza", "3 x 150 cal", "skipped lunch", "-200", "how am I doing?",
        ]
        for _ in 0..<40 {
            let before = talk.state
            let meals = talk.model.meals
            let changes = talk.model.changes
            try await talk.say(texts.randomElement(using: &random) ?? "")
            #expect(talk.state.calories >= 0 && talk.state.streak >= 0)
            #expect(talk.state.calories == talk.model.meals.reduce(0) { $0 + $1.calories })
            #expect(talk.state.lastMeal.count <= 40)
            if talk.model.changes != changes, random.next() % 3 == 0 {
                try await talk.say("undo")
                #expect(talk.state == before)
                #expect(talk.model.meals == meals)
            }
        }
    }
}

/// Random numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
