import Shared
import Testing

@testable import APNSPusher

@Suite struct `Island plan` {
    typealias Device = RegistryRecord.Device
    typealias Activity = RegistryRecord.Activity
    typealias StartToken = RegistryRecord.StartToken

    private let kind = "CoachAttributes"

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1000) }

    private func desired(
        _ session: String = "s1", generation: Int = 0, ends: Bool = false, byText: Bool = false, device: String? = nil
    ) -> DesiredIsland {
        DesiredIsland(
            handle: "+12025559876", userID: "u", attributesType: kind, sessionID: session, sessionStartedAt: at(0),
            generation: generation, timestamp: 100,
            desired: ends
                ? .end(DesiredIsland.Ending(contentState: nil, dismissalDate: nil))
                : .show(DesiredIsland.Card(contentState: "{}", staleDate: 200, alert: nil)),
            priority: 10, receivedAt: byText ? at(1) : nil, deviceID: device)
    }

    private func token(_ name: String = "aa", type: String? = nil, at seconds: Int64 = 1) -> StartToken {
        StartToken(
            attributesType: type ?? kind, token: name, environment: nil, bundleID: nil, wantsInputPushToken: false,
            registeredAt: at(seconds))
    }

    private func card(
        _ session: String?, _ state: RegistryRecord.State, generation: Int = 0, token: String? = "bb",
        type: String? = nil, at seconds: Int64 = 1, isStartUnknown: Bool? = nil
    ) -> Activity {
        Activity(
            attributesType: type ?? kind, sessionID: session, generation: generation, state: state, activityID: "a",
            token: state == .starting ? nil : token, environment: nil, bundleID: nil, registeredAt: at(seconds),
            startedAt: at(seconds), isStartUnknown: isStartUnknown)
    }

    private func device(_ name: String = "d", tokens: [StartToken] = [], cards: [Activity] = []) -> Device {
        Device(deviceID: name, startTokens: tokens, activities: cards)
    }

    private func steps(_ desired: DesiredIsland, _ devices: Device...) -> [IslandPlan.Step] {
        IslandPlan(
            desired, RegistryRecord(generation: 1, userID: "u", canonicalHandle: "+12025559876", devices: devices)
        )
        .steps
    }

    @Test func `a device without a card gets a start`() {
        let phone = device(tokens: [token("old", at: 1), token("new", at: 2)])
        #expect(steps(desired(), phone) == [.start(phone, token("new", at: 2), thenEnd: [], orUpdate: nil)])
    }

    @Test func `a live card gets an update`() {
        let live = card("s1", .live)
        let phone = device(tokens: [token()], cards: [live])
        #expect(steps(desired(), phone) == [.update(phone, live)])
    }

    @Test func `between a start and its token nothing is sent`() {
        #expect(steps(desired(), device(tokens: [token()], cards: [card("s1", .starting)])) == [.leave(.awaitingToken)])
    }

    @Test func `a start of unknown outcome is asked for anew for a text of the user's, and for nothing else`() {
        let unknown = card("s1", .starting, isStartUnknown: true)
        let phone = device(tokens: [token()], cards: [unknown])
        #expect(steps(desired(), phone) == [.leave(.awaitingToken)])
        #expect(steps(desired(byText: true), phone) == [.start(phone, token(), thenEnd: [], orUpdate: nil)])
        #expect(steps(desired(byText: true), device(cards: [unknown])) == [.leave(.awaitingToken)])
        let accepted = device(tokens: [token()], cards: [card("s1", .starting)])
        #expect(steps(desired(byText: true), accepted) == [.leave(.awaitingToken)])
    }

    @Test func `beside a renewal of unknown outcome the old card goes on until another start has leave`() {
        let cards = [
            card("s1", .live, token: "b0"), card("s1", .starting, generation: 1, isStartUnknown: true),
            card("s0", .live, token: "b1"),
        ]
        let phone = device(tokens: [token()], cards: cards)
        #expect(
            steps(desired(generation: 1, byText: true), phone)
                == [.start(phone, token(), thenEnd: [cards[0]], orUpdate: cards[0]), .end(phone, cards[2])])
    }

    @Test func `a state for one device is for no other one`() {
        let first = device("1", tokens: [token()], cards: [card("s1", .live)])
        let second = device("2", tokens: [token("cc")])
        #expect(steps(desired(device: "1"), first, second) == [.update(first, card("s1", .live))])
        #expect(steps(desired(device: "3"), first, second) == [])
    }

    @Test func `a dismissed card stays dismissed for the session`() {
        let phone = device(tokens: [token()], cards: [card("s1", .dismissed), card("s1", .live)])
        #expect(steps(desired(), phone) == [.leave(.dismissed)])
        #expect(steps(desired("s2"), device(tokens: [token()], cards: [card("s1", .dismissed)])).count == 1)
        guard case .start = steps(desired("s2"), device(tokens: [token()], cards: [card("s1", .dismissed)]))[0] else {
            return #expect(Bool(false), "the next session starts anew")
        }
    }

    @Test func `a card that the app started itself is adopted, no start is sent`() {
        let own = card(nil, .live)
        let phone = device(tokens: [token()], cards: [own])
        #expect(steps(desired(), phone) == [.adopt(phone, own, token())])
    }

    @Test func `each phone is looked at by itself`() {
        let first = device("1", tokens: [token()], cards: [card("s1", .live)])
        let second = device("2", tokens: [token("cc")])
        let third = device("3")
        #expect(
            steps(desired(), first, second, third)
                == [
                    .update(first, card("s1", .live)), .start(second, token("cc"), thenEnd: [], orUpdate: nil),
                    .leave(.noToken),
                ])
    }

    @Test func `a new session's start comes before the end of the last one's card`() {
        let old = card("s0", .live)
        let phone = device(tokens: [token()], cards: [old])
        #expect(steps(desired(), phone) == [.start(phone, token(), thenEnd: [old], orUpdate: nil)])
    }

    @Test func `a renewal starts a new card, and the old one ends once the new one is live`() {
        let old = card("s1", .live, token: "b0")
        let before = device(tokens: [token()], cards: [old])
        #expect(steps(desired(generation: 1), before) == [.start(before, token(), thenEnd: [old], orUpdate: nil)])
        let live = card("s1", .live, generation: 1, token: "b1")
        let after = device(tokens: [token()], cards: [old, live])
        #expect(steps(desired(generation: 1), after) == [.update(after, live), .end(after, old)])
    }

    @Test func `a card of this session that is over is not started again`() {
        #expect(steps(desired(), device(tokens: [token()], cards: [card("s1", .ended)])) == [.leave(.noToken)])
    }

    @Test func `another kind's tokens and cards are left alone`() {
        let phone = device(
            tokens: [token(type: "OrderAttributes")], cards: [card("s1", .live, type: "OrderAttributes")])
        #expect(steps(desired(), phone) == [.leave(.noToken)])
        #expect(steps(desired(ends: true), phone) == [.leave(.nothingToEnd)])
    }

    @Test func `the end goes to every live card of the kind`() {
        let cards = [card("s1", .live), card(nil, .live, token: "cc"), card("s1", .ended, token: "dd")]
        let phone = device(cards: cards)
        #expect(steps(desired(ends: true), phone) == [.end(phone, cards[0]), .end(phone, cards[1])])
        #expect(steps(desired(ends: true), device(cards: [card("s1", .starting)])) == [.leave(.awaitingToken)])
        #expect(steps(desired(ends: true), device(tokens: [token()])) == [.leave(.nothingToEnd)])
    }

    @Test func `a state that comes again does not touch a later session's card`() {
        let phone = device(tokens: [token()], cards: [card("s1", .live), card("s2", .live, token: "cc")])
        #expect(steps(desired("s1"), phone) == [.leave(.outdated)])
        #expect(steps(desired("s1", ends: true), phone) == [.end(phone, phone.activities[0])])
    }

    @Test func `an end that comes again does not touch the card that came after it`() {
        let phone = device(tokens: [token()], cards: [card("s1", .ended), card("s1", .live, generation: 1)])
        #expect(steps(desired("s1", ends: true), phone) == [.leave(.nothingToEnd)])
        let own = device(cards: [card(nil, .live, at: 101)])
        #expect(steps(desired("s1", ends: true), own) == [.leave(.nothingToEnd)])
    }

    @Test func `while a renewed card cannot be reached, the old one goes on`() {
        let old = card("s1", .live, token: "b0")
        let phone = device(tokens: [token()], cards: [old, card("s1", .starting, generation: 1)])
        #expect(steps(desired(generation: 1), phone) == [.update(phone, old)])
        let own = card(nil, .live, token: "b2")
        let lost = device(tokens: [token()], cards: [card("s1", .starting), own])
        #expect(steps(desired(), lost) == [.update(lost, own)])
    }

    @Test func `a swipe keeps no earlier session's card alive`() {
        let phone = device(cards: [card("s0", .live), card("s1", .dismissed)])
        #expect(steps(desired(), phone) == [.leave(.dismissed), .end(phone, phone.activities[0])])
    }

    @Test func `beside the session's card none of the app's own stays`() {
        let cards = [card("s1", .live), card(nil, .live, token: "cc")]
        let phone = device(tokens: [token()], cards: cards)
        #expect(steps(desired(), phone) == [.update(phone, cards[0]), .end(phone, cards[1])])
    }

    @Test func `without a start token the last session's card stands in`() {
        let old = card("s0", .live)
        let phone = device(cards: [old])
        #expect(steps(desired(), phone) == [.update(phone, old)])
    }

    @Test func `a user without devices needs nothing`() { #expect(steps(desired()).isEmpty) }
}

@Suite struct `Superseded islands` {
    private func event(_ timestamp: Int64, alert: Bool = false, type: String = "CoachAttributes", device: String? = nil)
        -> CloudEvent<
            DesiredIsland
        >
    {
        let card = DesiredIsland.Card(
            contentState: "{}", staleDate: 0, alert: alert ? DesiredIsland.Alert(title: "t", body: "b") : nil)
        let time = Timestamp(millisecondsSince1970: 0)
        return CloudEvent(
            id: "\(timestamp)", source: "t", type: DesiredIsland.type, time: time, traceparent: nil,
            data: DesiredIsland(
                handle: "h", userID: "u", attributesType: type, sessionID: "s", sessionStartedAt: time,
                timestamp: timestamp, desired: .show(card), priority: 10, receivedAt: nil, deviceID: device))
    }

    @Test func `only a newer state of the same kind makes one void, and none without its alert`() {
        #expect(IslandPusher.isSuperseded(event(1), by: [event(2)]))
        #expect(!IslandPusher.isSuperseded(event(2), by: [event(1)]))
        #expect(!IslandPusher.isSuperseded(event(1), by: [event(2, type: "OrderAttributes")]))
        #expect(!IslandPusher.isSuperseded(event(1, alert: true), by: [event(2)]))
        #expect(IslandPusher.isSuperseded(event(1, alert: true), by: [event(2, alert: true)]))
        #expect(!IslandPusher.isSuperseded(event(1), by: []))
        #expect(!IslandPusher.isSuperseded(event(1), by: [event(2, device: "a")]))
        #expect(!IslandPusher.isSuperseded(event(1, device: "b"), by: [event(2, device: "a")]))
        #expect(IslandPusher.isSuperseded(event(1, device: "a"), by: [event(2, device: "a")]))
        #expect(IslandPusher.isSuperseded(event(1, device: "a"), by: [event(2)]))
    }
}
