import Shared
import Testing

@testable import TokenRegistry

/// When a session may have another card although one was started before, without a database.
@Suite struct LostCardTests {
    func at(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: 1_750_000_000_000 + seconds * 1000) }

    func sam() -> User {
        var user = User(id: "sam")
        user.register(token("aa"), at: at(0))
        return user
    }

    func token(_ token: String, device: String = "phone", type: String = "Coach") -> StartTokenRegistration {
        StartTokenRegistration(
            deviceID: device, attributesType: type, token: token, environment: nil, bundleID: nil,
            wantsInputPushToken: nil)
    }

    func start(_ timestamp: Int64, isFromUser: Bool? = true, generation: Int = 0, grant: String? = nil) -> RegistryStart
    {
        RegistryStart(
            userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1", generation: generation,
            timestamp: timestamp, isFromUser: isFromUser, grant: grant)
    }

    func card(_ activityID: String, _ token: String, startedAt: Timestamp? = nil) -> ActivityRegistration {
        ActivityRegistration(
            deviceID: "phone", activityID: activityID, attributesType: "Coach", token: token, sessionID: "s1",
            environment: nil, bundleID: nil, startedAt: startedAt)
    }

    /// A user with a live card of the session, reported when it began.
    func samWithCard() -> User {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.acceptStart(start(100, grant: "a"))
        user.register(card("A", "t1"), id: "2", at: at(1))
        return user
    }

    // MARK: A start of unknown outcome

    @Test func `a start that nobody knows the outcome of is granted anew for a later text`() {
        var user = sam()
        #expect(user.grantStart(start(100), request: "a", id: "1", at: at(0)) == .granted)
        #expect(user.cards[0].record.isStartUnknown == true)
        #expect(user.grantStart(start(101), request: "b", id: "2", at: at(59)) != .granted, "its token may still come")
        #expect(user.grantStart(start(101), request: "b", id: "2", at: at(60)) == .granted)
        #expect(user.cards.map(\.id) == ["1"])
        // And from there on as before.
        #expect(user.grantStart(start(102), request: "c", id: "3", at: at(90)) != .granted)
        #expect(user.grantStart(start(102), request: "c", id: "3", at: at(120)) == .granted)
    }

    @Test func `not for the same state, an older one, or one that no text has made`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        let before = user
        #expect(user.grantStart(start(100), request: "b", id: "2", at: at(3600)) != .granted)
        #expect(user.grantStart(start(99), request: "b", id: "2", at: at(3600)) != .granted)
        #expect(user.grantStart(start(101, isFromUser: nil), request: "b", id: "2", at: at(3600)) != .granted)
        #expect(user.grantStart(start(101, generation: -1), request: "b", id: "2", at: at(3600)) != .granted)
        #expect(user == before)
    }

    @Test func `not one that APNs took`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.acceptStart(start(100, grant: "a"))
        #expect(user.cards[0].record.isStartUnknown == nil)
        #expect(user.grantStart(start(101), request: "b", id: "2", at: at(3600)) != .granted)
    }

    @Test func `not on a device that has no start token any more`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.tokenDied("aa", at: at(1), now: at(1))
        #expect(user.grantStart(start(101), request: "b", id: "2", at: at(60)) != .granted)
    }

    @Test func `of two starts, one that was taken is enough, and one that was refused is not`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.acceptStart(start(100, grant: "another card's"))
        #expect(user.cards[0].record.isStartUnknown == true)
        _ = user.grantStart(start(101), request: "b", id: "2", at: at(60))
        // Nobody knows of the first one yet, so no other one than a text may start it again.
        for grant in ["a", "b"] { user.refuseStart(start(101, grant: grant)) }
        #expect(user.cards.map(\.startRequest) == ["b"] && user.reachableAgain.isEmpty)
        #expect(user.grantStart(start(102, isFromUser: nil), request: "c", id: "3", at: at(200)) != .granted)
        #expect(user.grantStart(start(102), request: "c", id: "3", at: at(200)) == .granted)
        user.acceptStart(start(100, grant: "a"))
        #expect(user.cards[0].record.isStartUnknown == nil)
    }

    @Test func `leave that was asked for again gives the grace anew`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        #expect(user.grantStart(start(100), request: "a", id: "2", at: at(50)) == .granted)
        #expect(user.grantStart(start(101), request: "b", id: "3", at: at(100)) != .granted)
        #expect(user.grantStart(start(101), request: "b", id: "3", at: at(110)) == .granted)
    }

    @Test func `of the cards of two such starts the later one stays`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        _ = user.grantStart(start(101), request: "b", id: "2", at: at(60))
        user.register(card("A", "t1"), id: "3", at: at(61))
        user.register(card("B", "t2"), id: "4", at: at(62))
        #expect(user.cards.map(\.state) == [.ended, .live])
        #expect(user.reconcile(running: ["A", "B"], on: "phone", at: at(70)) == ["A"])
    }

    @Test func `the late report of an earlier card does not pass for the next one's`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        _ = user.grantStart(start(101, generation: 1), request: "b", id: "2", at: at(100))
        user.register(card("A", "t1", startedAt: at(2)), id: "3", at: at(101))
        #expect(user.cards.map(\.activityID) == ["A", nil])
        // The phone's clock may be a little behind.
        user.register(card("B", "t2", startedAt: at(97)), id: "4", at: at(102))
        #expect(user.cards.map(\.activityID) == ["A", "B"])
    }

    @Test func `of two starts that came to the phone at once the later card is the newer start's`() {
        for startedAt in [at(200), at(201)] {
            var user = sam()
            _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
            _ = user.grantStart(start(101, generation: 1), request: "b", id: "2", at: at(100))
            user.register(card("A", "t1", startedAt: at(200)), id: "3", at: at(202))
            user.register(card("B", "t2", startedAt: startedAt), id: "4", at: at(203))
            let generations = Dictionary(
                uniqueKeysWithValues: user.cards.map { ($0.activityID, $0.generation) })
            #expect(generations == ["A": 0, "B": 1])
            #expect(user.cards.allSatisfy { $0.state == .live })
            #expect(user.reconcile(running: ["A", "B"], on: "phone", at: at(204)) == ["A"])
        }
    }

    @Test func `the card of a start's first leave does not pass for an earlier start's`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        _ = user.grantStart(start(101, generation: 1), request: "b", id: "2", at: at(100))
        user.register(card("A", "t1", startedAt: at(101)), id: "3", at: at(102))
        _ = user.grantStart(start(102, generation: 2), request: "c", id: "4", at: at(200))
        _ = user.grantStart(start(103, generation: 2), request: "d", id: "5", at: at(300))
        user.pushEnded("t1", at: at(301))
        // The app was quit and is launched now: its card came of the leave at 200.
        user.register(card("B", "t2", startedAt: at(201)), id: "6", at: at(302))
        #expect(user.cards.map(\.activityID) == [nil, "A", "B"])
        #expect(user.reconcile(running: ["B"], on: "phone", at: at(303)).isEmpty)
        #expect(user.cards.map(\.state) == [.starting, .ended, .live])
    }

    @Test func `the late report of a card that was ended does not bring it back when its token is dead`() {
        var user = samWithCard()
        user.pushEnded("t1", at: at(100))
        user.tokenDied("t1", at: at(100), now: at(101))
        user.register(card("A", "t1"), id: "3", at: at(102))
        #expect(user.cards.map(\.state) == [.ended])
        user.register(card("A", "t2"), id: "4", at: at(103))
        #expect(user.cards.map(\.state) == [.live], "with another token it did not get its end")
    }

    // MARK: Another installation

    @Test func `an app that was installed anew gets a card again`() {
        var user = samWithCard()
        user.register(token("bb"), at: at(100))
        #expect(user.cards.map(\.state) == [.live], "a new token alone says nothing")
        user.reachableAgain = []
        #expect(user.reconcile(running: [], on: "phone", at: at(101)).isEmpty)
        #expect(user.cards.isEmpty && user.reachableAgain.count == 1)
        #expect(user.grantStart(start(100, isFromUser: nil), request: "b", id: "3", at: at(102)) == .granted)
    }

    @Test func `also when its launch is heard of first, or APNs has called the old token dead`() {
        var launched = samWithCard()
        _ = launched.reconcile(running: [], on: "phone", at: at(100))
        #expect(launched.cards.map(\.ending) == [.notRunning])
        launched.register(token("bb"), at: at(101))
        #expect(launched.cards.isEmpty && launched.reachableAgain.count == 1)

        var dead = samWithCard()
        dead.tokenDied("t1", at: at(90), now: at(90))
        dead.register(token("bb"), at: at(100))
        _ = dead.reconcile(running: [], on: "phone", at: at(101))
        #expect(dead.cards.isEmpty)
    }

    @Test func `also when the session had two cards, of which the app ended the earlier one`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        _ = user.grantStart(start(101), request: "b", id: "2", at: at(60))
        user.register(card("A", "t1", startedAt: at(1)), id: "3", at: at(61))
        user.register(card("B", "t2", startedAt: at(62)), id: "4", at: at(63))
        user.end("A", on: "phone", session: "s1", at: at(64))
        #expect(user.cards.map(\.state).sorted { $0.rawValue < $1.rawValue } == [.ended, .live])
        user.tokenDied("t2", at: at(200), now: at(201))
        user.register(token("bb"), at: at(202))
        _ = user.reconcile(running: [], on: "phone", at: at(203))
        #expect(user.cards.isEmpty)
        #expect(user.grantStart(start(102), request: "c", id: "5", at: at(204)) == .granted)
    }

    @Test func `also when the card's own token had not come yet`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.acceptStart(start(100, grant: "a"))
        user.register(token("bb"), at: at(100))
        var unheard = user
        _ = unheard.reconcile(running: ["A"], on: "phone", at: at(101))
        #expect(unheard.cards.map(\.state) == [.starting], "that may be it")
        _ = user.reconcile(running: [], on: "phone", at: at(101))
        #expect(user.cards.isEmpty)
    }

    @Test func `a start that was granted anew since is not doubted`() {
        var user = sam()
        _ = user.grantStart(start(100), request: "a", id: "1", at: at(0))
        user.register(token("bb"), at: at(100))
        #expect(user.grantStart(start(101), request: "b", id: "2", at: at(101)) == .granted)
        _ = user.reconcile(running: [], on: "phone", at: at(102))
        #expect(user.cards.map(\.startRequest) == ["b"])
    }

    @Test func `a card that is missing at launch, and no new token, was swiped away`() {
        var user = samWithCard()
        user.register(token("aa"), at: at(100))
        _ = user.reconcile(running: [], on: "phone", at: at(101))
        #expect(user.cards.map(\.ending) == [.notRunning])
        // A token that changes later, by itself, changes nothing.
        user.register(token("bb"), at: at(1000))
        #expect(user.cards.map(\.ending) == [.notRunning])
        #expect(user.grantStart(start(101), request: "b", id: "3", at: at(1001)) != .granted)
    }

    @Test func `the token that iOS makes right after a start is no new installation`() {
        var user = samWithCard()
        user.register(token("bb"), at: at(5))
        _ = user.reconcile(running: [], on: "phone", at: at(100))
        #expect(user.cards.map(\.ending) == [.notRunning])
    }

    @Test func `a card that the app has vouched for since is not doubted`() {
        var reported = samWithCard()
        reported.register(token("bb"), at: at(100))
        reported.register(card("A", "t2"), id: "3", at: at(101))
        _ = reported.reconcile(running: [], on: "phone", at: at(200))
        #expect(reported.cards.map(\.ending) == [.notRunning])

        var running = samWithCard()
        running.register(token("bb"), at: at(100))
        _ = running.reconcile(running: ["A"], on: "phone", at: at(101))
        _ = running.reconcile(running: [], on: "phone", at: at(200))
        #expect(running.cards.map(\.ending) == [.notRunning])
    }

    @Test func `a swipe that was told stays one, whatever the tokens do`() {
        var user = samWithCard()
        user.register(token("bb"), at: at(100))
        user.dismiss("A", on: "phone", session: nil, at: at(101))
        _ = user.reconcile(running: [], on: "phone", at: at(102))
        user.register(token("cc"), at: at(103))
        #expect(user.cards.map(\.state) == [.dismissed])
    }

    @Test func `a token that APNs had called dead, and that comes again, casts no doubt`() {
        var user = samWithCard()
        user.tokenDied("aa", at: at(90), now: at(90))
        user.register(token("aa"), at: at(100))
        _ = user.reconcile(running: [], on: "phone", at: at(101))
        #expect(user.cards.map(\.ending) == [.notRunning])
    }

    @Test func `another phone's or kind's new token casts no doubt`() {
        var user = samWithCard()
        user.register(token("bb", device: "tablet"), at: at(100))
        user.register(token("cc", type: "Order"), at: at(100))
        _ = user.reconcile(running: [], on: "phone", at: at(101))
        #expect(user.cards.map(\.ending) == [.notRunning])
    }
}
