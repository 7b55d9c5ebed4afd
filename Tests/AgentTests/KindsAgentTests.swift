import Foundation
import Runtime
import Shared
import Testing

@testable import Agent

/// The four small agents, a text and what follows from it at a time.
struct KindsAgentTests {
    /// A text, or an event of the backend; what is said; and fields of the state then.
    struct Step {
        let event: AgentEvent
        let said: String?
        var state: [String: AnyJSON]?
        var alert: String?
        var after = 0.0

        static func text(
            _ text: String, _ said: String?, _ state: [String: AnyJSON]? = nil, alert: String? = nil, after: Double = 0
        ) -> Step {
            Step(event: Events.message(text), said: said, state: state, alert: alert, after: after)
        }

        static func event(
            _ name: String, _ payload: String, _ state: [String: AnyJSON]?, alert: String? = nil, after: Double = 0
        ) -> Step {
            Step(event: Events.custom(name, payload), said: nil, state: state, alert: alert, after: after)
        }
    }

    @Test func `an order grows, is placed, made and ready`() async throws {
        try await play(
            AnyAgent(OrderAgent()),
            [
                .text("hi", "Hungry? Text \"menu\", or what you would like.", ["total": .integer(0)]),
                .text(
                    "2 margheritas and a lemonade", "Added 2 × Margherita, 1 × Lemonade. That makes $29.00.",
                    ["total": .integer(2900), "itemCount": .integer(3), "status": .string("open")]),
                .text("one more Lemonade", "Added 1 × Lemonade. That makes $33.00.", ["itemCount": .integer(4)]),
                .text("remove the lemonade please", "Removed Lemonade. That makes $25.00.", ["itemCount": .integer(2)]),
                .text("no tiramisu", "That is not in your order.", ["itemCount": .integer(2)]),
                .text(
                    "what's in my order?", "So far: 2 × Margherita, $25.00. Text \"place it\" when that is all.",
                    ["status": .string("open")]),
                .text("place it", "Placed: 2 × Margherita for $25.00.", ["status": .string("placed")]),
                .text("an espresso", "Your order is already on its way to the oven.", ["total": .integer(2500)]),
                .event("order", #"{"status":"preparing"}"#, ["status": .string("preparing")]),
                .text("cancel", "There is nothing that could still be cancelled.", ["status": .string("preparing")]),
                .event("order", #"{"status":"ready"}"#, ["status": .string("ready")], alert: "Your order is ready"),
                .event("order", #"{"status":"eaten"}"#, nil),
                .event("left_kitchen", "{}", ["status": .string("ready")]),
                .event("weather", "{}", nil),
                .text(
                    "3 waters", "Added 3 × Water. That makes $7.50.",
                    ["status": .string("open"), "total": .integer(750)]),
                .text("cancel", "Cancelled.", ["status": .string("cancelled")]),
                .text("999 waters", "Added 20 × Water. That makes $50.00.", ["itemCount": .integer(20)]),
            ])
    }

    @Test func `a delivery moves by the clock until the backend knows better`() async throws {
        let start = Events.now.secondsSince1970
        try await play(
            AnyAgent(DeliveryAgent()),
            [
                .text("where is it?", "Nothing is on its way. Text \"order from\" and a name to begin."),
                .event("delivery", #"{"courier":"Mina"}"#, nil),
                .text(
                    "order from mario's, 20 min", "Mario's has your order. It should be there in 20 min.",
                    [
                        "merchant": .string("Mario's"), "phase": .string("preparing"), "progress": .integer(0),
                        "etaEpoch": .integer(start + 1200),
                    ]),
                .text(
                    "where is it?", "Your order is on the way from Mario's: 10 min.",
                    ["phase": .string("enRoute"), "progress": .number(0.5)], after: 600),
                .event(
                    "delivery", #"{"courier":"Mina","etaEpoch":\#(start + 1500),"phase":"nearby","progress":0.9}"#,
                    ["phase": .string("nearby"), "courier": .string("Mina"), "progress": .number(0.9)],
                    alert: "Almost there", after: 900),
                .text("eta?", "Mina is almost there: 5 min.", ["phase": .string("nearby")], after: 1200),
                .event(
                    "delivery", #"{"phase":"delivered"}"#,
                    ["phase": .string("delivered"), "progress": .integer(1)], alert: "Delivered", after: 1400),
                .text("thanks", "Your order from Mario's has been delivered.", ["progress": .integer(1)], after: 1500),
            ])
    }

    @Test func `a balance is earned, spent, taken back and reaches its target`() async throws {
        try await play(
            AnyAgent(BalanceAgent()),
            [
                .text("hello", "You have 0 points.", ["balance": .integer(0), "lastEntry": .string("No entries yet")]),
                .text(
                    "earned 1,840 points for two coffees", "Two coffees: +1,840 points. You have 1,840 points.",
                    ["balance": .integer(1840), "lastChange": .integer(1840), "lastEntry": .string("Two coffees")]),
                .text("spent 5000 on a bike", "You only have 1,840 points.", ["balance": .integer(1840)]),
                .text(
                    "spent 300 on a mug", "A mug: −300 points. You have 1,540 points.",
                    ["balance": .integer(1540), "lastChange": .integer(-300)]),
                .text("undo", "Took \"A mug\" back. You have 1,840 points.", ["balance": .integer(1840)]),
                .text(
                    "save up for 2000", "Your target is 2,000 points. You have 1,840 points, 160 points to go.",
                    ["target": .integer(2000)]),
                .event(
                    "transaction", #"{"amount":200,"label":"Birthday"}"#,
                    ["balance": .integer(2040), "lastEntry": .string("Birthday")], alert: "Target reached"),
                .text("12", "Text \"earned 12\" or \"spent 12\" and what it was for.", ["balance": .integer(2040)]),
                .text("earned 99999999", "That is more than I can book.", ["balance": .integer(2040)]),
                .event("transaction", #"{"amount":"many"}"#, nil),
            ])
    }

    @Test func `a checklist burns down`() async throws {
        try await play(
            AnyAgent(ChecklistAgent()),
            [
                .text("hi", "Text me a list, such as \"Moving day: pack the books, book the van\"."),
                .text(
                    "new list moving day: pack the books, book the van, clean",
                    "Moving day: 3 to do. First: Pack the books.",
                    ["title": .string("Moving day"), "done": .integer(0), "total": .integer(3)]),
                .text(
                    "done", "Done: Pack the books. 2 to go, next: Book the van.",
                    ["done": .integer(1), "lastDone": .string("Pack the books"), "next": .string("Book the van")]),
                .text(
                    "done with the cleaning", "That is not on the list, or done already. 2 to go, next: Book the van.",
                    ["done": .integer(1)]),
                .text("3 done", "Done: Clean. 1 to go, next: Book the van.", ["done": .integer(2)]),
                .text("undo", "Back on the list: Clean. 2 to go, next: Book the van.", ["done": .integer(1)]),
                .text(
                    "add water the plants", "Added Water the plants. 3 to go, next: Book the van.",
                    ["total": .integer(4)]),
                .text(
                    "what's next?",
                    "Moving day: 3 to go, next: Book the van.\n✓ 1. Pack the books\n○ 2. Book the van\n○ 3. Clean\n"
                        + "○ 4. Water the plants", ["done": .integer(1)]),
                .event("checklist", #"{"done":"Book the van"}"#, ["done": .integer(2)]),
                .event("checklist", #"{"done":"Fly to the moon"}"#, nil),
                .text("did clean", "Done: Clean. 1 to go, next: Water the plants.", ["done": .integer(3)]),
                .text("plants done", "Done: Water the plants. All done!", ["done": .integer(4)], alert: "All done"),
                .text("add", "Add what?", ["total": .integer(4)]),
            ])
    }

    @Test func `the template counts texts`() async throws {
        try await play(
            AnyAgent(TemplateAgent()),
            [
                .text("one", "That was text 1.", ["done": .integer(1), "lastDone": .string("one")]),
                .text("", nil), .event("sync", "{}", nil),
                .text("two", "That was text 2.", ["done": .integer(2), "total": .integer(10)]),
            ])
    }

    @Test func `a group that does not ask, a late text, an opt-out and a reaction get no answer`() async throws {
        let agents = [
            AnyAgent(OrderAgent()), AnyAgent(DeliveryAgent()), AnyAgent(BalanceAgent()), AnyAgent(ChecklistAgent()),
        ]
        let reaction = InboundReaction(
            chat: Chat(id: "c", isGroup: false), sender: "+1", service: nil, messageID: "m", reaction: "love",
            emoji: nil,
            isAdded: true, receivedAt: Events.now)
        for agent in agents {
            let events = [
                Events.message("hi", isGroup: true), Events.message("hi", isReconciled: true), Events.message("STOP"),
                .reaction(reaction),
            ]
            for event in events {
                let outcome = try await agent.respond(to: event, model: nil, context: Events.context())
                #expect(outcome.response == AgentResponse())
            }
            let ended = try await agent.respond(to: .sessionEnding, model: nil, context: Events.context())
            guard case .end = ended.response.island else {
                Issue.record("\(agent.kind.attributesType) does not end")
                return
            }
        }
    }

    @Test func `what people text breaks none of them`() async throws {
        let odd = [
            "", " ", ":", "a: ,", "0", "-5", "done 99999999999999999999", "🍕", "from", "from 3", "undo undo",
            "add ,,,", "earned 0", String(repeating: "9,999 margherita: done from x, ", count: 400), "\u{0}", "1,2,3",
        ]
        for agent in [
            AnyAgent(OrderAgent()), AnyAgent(DeliveryAgent()), AnyAgent(BalanceAgent()), AnyAgent(ChecklistAgent()),
        ] {
            var model: [UInt8]?
            for text in odd + odd {
                let outcome = try await agent.respond(to: Events.message(text), model: model, context: Events.context())
                #expect(outcome.refusal == nil)
                model = outcome.model
            }
        }
    }

    private func play(_ agent: AnyAgent, _ steps: [Step]) async throws {
        var model: [UInt8]?
        var shown: String?
        for step in steps {
            let context = Events.context(showing: shown, after: step.after)
            let outcome = try await agent.respond(to: step.event, model: model, context: context)
            model = outcome.model
            #expect(outcome.refusal == nil)
            #expect(outcome.response.replies.map(\.text) == [step.said].compactMap { $0 })
            guard case .show(let json, let alert, _, _) = outcome.response.island else {
                #expect(step.state == nil, "\(step)")
                continue
            }
            shown = String(decoding: json, as: UTF8.self)
            let state = AnyJSON(parsing: json)
            #expect(step.state != nil, "\(step)")
            for (name, value) in step.state ?? [:] { #expect(state?[name] == value, "\(step)") }
            #expect(alert?.title == step.alert, "\(step)")
        }
    }
}
