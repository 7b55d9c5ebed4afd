import Shared
import Testing

@testable import TokenRegistry

/// The rules of starts, cards and tokens, without a database.
@Suite struct CardRuleTests {
    let now = Timestamp(millisecondsSince1970: 1_750_000_000_000)
    let later = Timestamp(millisecondsSince1970: 1_750_000_060_000)

    func sam(token: String = "aa") -> User {
        var user = User(id: "sam")
        user.register(
            StartTokenRegistration(
                deviceID: "phone", attributesType: "Coach", token: token, environment: nil, bundleID: nil,
                wantsInputPushToken: nil), at: now)
        return user
    }

    func start(_ session: String = "s1", generation: Int = 0, device: String = "phone") -> RegistryStart {
        RegistryStart(
            userID: "sam", deviceID: device, attributesType: "Coach", sessionID: session, generation: generation)
    }

    func reported(
        _ activityID: String, _ token: String, session: String? = nil, startedAt: Timestamp? = nil
    ) -> ActivityRegistration {
        ActivityRegistration(
            deviceID: "phone", activityID: activityID, attributesType: "Coach", token: token, sessionID: session,
            environment: nil, bundleID: nil, startedAt: startedAt)
    }

    @Test func `a start is granted once for each session and generation`() {
        var user = sam()
        #expect(user.grantStart(start(), request: "a", id: "1", at: now) == .granted)
        #expect(user.grantStart(start(), request: "b", id: "2", at: later) != .granted)
        #expect(user.cards.count == 1)
        #expect(user.grantStart(start(generation: 1), request: "c", id: "3", at: later) == .granted)
        #expect(user.grantStart(start(generation: 1), request: "d", id: "4", at: later) != .granted)
        #expect(user.grantStart(start(generation: 0), request: "e", id: "5", at: later) != .granted)
        #expect(user.grantStart(start("s2"), request: "f", id: "6", at: later) == .granted)
    }

    @Test func `the same question asked again, because the answer was lost, is granted again`() {
        var user = sam()
        #expect(user.grantStart(start(), request: "a", id: "1", at: now) == .granted)
        #expect(user.grantStart(start(), request: "a", id: "2", at: later) == .granted)
        #expect(user.cards.map(\.id) == ["1"])
    }

    @Test func `a refused start may be asked for again, a reported one stays granted`() {
        var user = sam()
        #expect(user.grantStart(start(), request: "a", id: "1", at: now) == .granted)
        user.refuseStart(start())
        #expect(user.grantStart(start(), request: "b", id: "2", at: now) == .granted)
        user.register(reported("A", "t1", session: "s1"), id: "3", at: later)
        user.refuseStart(start())
        #expect(user.cards.map(\.state) == [.live])
    }

    @Test func `a device without a start token gets no start`() {
        var user = sam()
        #expect(user.grantStart(start(device: "tablet"), request: "a", id: "1", at: now) != .granted)
        #expect(user.cards.isEmpty)
    }

    @Test func `a late token joins the start of its session`() {
        var user = sam()
        _ = user.grantStart(start(), request: "a", id: "1", at: now)
        user.register(reported("A", "t1", session: "s1"), id: "2", at: later)
        #expect(user.cards.count == 1)
        #expect(user.cards.first?.state == .live)
        #expect(user.cards.first?.token == "t1")
        #expect(user.cards.first?.activityID == "A")
    }

    @Test func `a token for a renewed card joins the newest start`() {
        var user = sam()
        _ = user.grantStart(start(), request: "a", id: "1", at: now)
        user.register(reported("A", "t1", session: "s1"), id: "2", at: now)
        _ = user.grantStart(start(generation: 1), request: "b", id: "3", at: later)
        user.register(reported("B", "t2", session: "s1"), id: "4", at: later)
        #expect(user.cards.map(\.generation) == [0, 1])
        #expect(user.cards.map(\.state) == [.live, .live])
        user.pushEnded("t1", at: later)
        #expect(user.cards.map(\.state) == [.ended, .live])
    }

    @Test func `a new token of a card replaces the old one`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.learn(.sandbox, of: "t1")
        user.register(reported("A", "t1", session: nil), id: "2", at: later)
        #expect(user.cards.first?.sessionID == "s1")
        #expect(user.cards.first?.environment == .sandbox)
        user.register(reported("A", "t2", session: "s1"), id: "3", at: later)
        #expect(user.cards.map(\.token) == ["t2"])
        #expect(user.cards.first?.environment == nil)
    }

    @Test func `of two cards of one session the newest is kept`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1", startedAt: now), id: "1", at: now)
        user.register(reported("B", "t2", session: "s1", startedAt: later), id: "2", at: later)
        #expect(user.cards.map(\.state) == [.ended, .live])
        user.register(reported("C", "t3", session: "s1", startedAt: now), id: "3", at: later)
        #expect(user.cards.map(\.state) == [.ended, .live, .ended])
        #expect(user.reconcile(running: ["A", "B", "C"], on: "phone", at: later) == ["A", "C"])
    }

    @Test func `a card that the app started is adopted instead of a second one started`() {
        var user = sam()
        user.register(reported("A", "t1"), id: "1", at: now)
        #expect(user.grantStart(start(), request: "a", id: "2", at: later) == .adopted)
        #expect(user.cards.map(\.sessionID) == ["s1"])
        #expect(user.grantStart(start(), request: "b", id: "3", at: later) != .granted)
        #expect(user.grantStart(start(generation: 1), request: "c", id: "4", at: later) == .granted)
    }

    @Test func `a card that the app started more than eight hours ago is not adopted`() {
        var user = sam()
        user.register(reported("A", "t1"), id: "1", at: now)
        let nineHoursLater = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + 9 * 3_600_000)
        #expect(user.grantStart(start(), request: "a", id: "2", at: nineHoursLater) == .granted)
    }

    @Test func `a dismissed card stays dismissed for its session, and for no other`() {
        var user = sam()
        _ = user.grantStart(start(), request: "a", id: "1", at: now)
        user.register(reported("A", "t1", session: "s1"), id: "2", at: now)
        user.dismiss("A", on: "phone", session: nil, at: later)
        #expect(user.cards.map(\.state) == [.dismissed])
        user.register(reported("A", "t2", session: "s1"), id: "3", at: later)
        #expect(user.cards.map(\.state) == [.dismissed])
        #expect(user.grantStart(start(generation: 1), request: "b", id: "4", at: later) != .granted)
        user.register(reported("B", "t3", session: "s1"), id: "5", at: later)
        #expect(user.cards.last?.state == .ended)
        #expect(user.reconcile(running: ["B"], on: "phone", at: later) == ["B"])
        #expect(user.grantStart(start("s2"), request: "c", id: "6", at: later) == .granted)
    }

    @Test func `a card swiped away before it was reported is dismissed by its session`() {
        var user = sam()
        _ = user.grantStart(start(), request: "a", id: "1", at: now)
        user.dismiss("A", on: "phone", session: "s1", at: later)
        #expect(user.cards.map(\.state) == [.dismissed])
        #expect(user.cards.map(\.activityID) == ["A"])
    }

    @Test func `our own end is not a dismissal`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.pushEnded("t1", at: later)
        user.dismiss("A", on: "phone", session: nil, at: later)
        #expect(user.cards.map(\.state) == [.ended])
    }

    @Test func `a card that a renewal replaced is not dismissed when the system removes it`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        _ = user.grantStart(start(generation: 1), request: "b", id: "2", at: later)
        user.dismiss("A", on: "phone", session: nil, at: later)
        #expect(user.cards.map(\.state) == [.ended, .starting])
    }

    @Test func `a swipe that APNs noticed before the app is a dismissal still`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.tokenDied("t1", at: later, now: later)
        user.dismiss("A", on: "phone", session: nil, at: later)
        #expect(user.cards.map(\.state) == [.dismissed])
    }

    @Test func `a 410 older than the registration removes nothing`() {
        var user = sam(token: "aa")
        user.register(reported("A", "t1"), id: "1", at: later)
        let before = user
        user.tokenDied("t1", at: now, now: later)
        #expect(user == before)
        user.tokenDied("aa", at: Timestamp(millisecondsSince1970: now.millisecondsSince1970 - 1), now: later)
        #expect(user == before)
        user.tokenDied("aa", at: now, now: later)
        #expect(user.startTokens.isEmpty)
    }

    @Test func `a card whose token died comes back when the app reports it`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.tokenDied("t1", at: now, now: later)
        #expect(user.cards.first?.state == .ended)
        user.register(reported("A", "t2", session: "s1"), id: "2", at: later)
        #expect(user.cards.map(\.state) == [.live])
    }

    @Test func `cards that do not run at launch are closed, and come back if they do run`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.register(reported("B", "t2"), id: "2", at: now)
        #expect(user.reconcile(running: ["B", "unheard-of"], on: "phone", at: later).isEmpty)
        #expect(user.cards.map(\.state) == [.ended, .live])
        #expect(user.reconcile(running: ["A", "B"], on: "phone", at: later).isEmpty)
        #expect(user.cards.map(\.state) == [.live, .live])
    }

    @Test func `at launch older cards and those of ended sessions are to be ended`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        _ = user.grantStart(start(generation: 1), request: "b", id: "2", at: later)
        user.register(reported("B", "t2", session: "s1"), id: "3", at: later)
        #expect(user.reconcile(running: ["A", "B"], on: "phone", at: later) == ["A"])
        user.pushEnded("t2", at: later)
        #expect(user.reconcile(running: ["A", "B"], on: "phone", at: later) == ["A", "B"])
    }

    @Test func `a start token that comes again keeps what was learned of it`() {
        var user = sam(token: "aa")
        user.learn(.sandbox, of: "aa")
        user.register(
            StartTokenRegistration(
                deviceID: "phone", attributesType: "Coach", token: "aa", environment: nil, bundleID: "app",
                wantsInputPushToken: true), at: later)
        #expect(user.startTokens.first?.environment == .sandbox)
        #expect(user.startTokens.first?.registeredAt == later)
        user.register(
            StartTokenRegistration(
                deviceID: "phone", attributesType: "Coach", token: "bb", environment: nil, bundleID: nil,
                wantsInputPushToken: nil), at: later)
        #expect(user.startTokens.map(\.token) == ["bb"])
        #expect(user.startTokens.first?.environment == nil)
        #expect(user.startTokens.first?.bundleID == "app")
        #expect(user.startTokens.first?.wantsInputPushToken == true)
    }

    @Test func `the device registered longest ago makes room for the twenty-first`() {
        var user = User(id: "sam")
        for number in 0...User.mostDevices {
            user.register(
                StartTokenRegistration(
                    deviceID: "device-\(number)", attributesType: "Coach", token: "\(number)", environment: nil,
                    bundleID: nil, wantsInputPushToken: nil),
                at: Timestamp(millisecondsSince1970: Int64(number)))
        }
        #expect(user.startTokens.count == User.mostDevices)
        #expect(user.startTokens.first?.deviceID == "device-1")
    }

    @Test func `late news of a refused start leaves the next grant alone`() {
        func refused(_ grant: String) -> RegistryStart {
            RegistryStart(
                userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1", generation: 0, grant: grant)
        }
        var user = sam()
        _ = user.grantStart(start(), request: "a", id: "1", at: now)
        user.refuseStart(refused("a"))
        #expect(user.grantStart(start(), request: "b", id: "2", at: now) == .granted)
        user.refuseStart(refused("a"))
        #expect(user.cards.map(\.startRequest) == ["b"])
        user.refuseStart(refused("b"))
        #expect(user.cards.isEmpty)
    }

    @Test func `a refused start that may be tried again, or with another token, is told to the agent`() {
        func hopes(mayRetry: Bool?, token: String) -> Int {
            var user = sam(token: "aa")
            _ = user.grantStart(start(), request: "a", id: "1", at: now)
            user.refuseStart(
                RegistryStart(
                    userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1", generation: 0,
                    grant: "a", mayRetry: mayRetry, token: token))
            return user.reachableAgain.count
        }
        #expect(hopes(mayRetry: nil, token: "aa") == 0)
        #expect(hopes(mayRetry: true, token: "aa") == 1)
        #expect(hopes(mayRetry: nil, token: "bb") == 1)
    }

    @Test func `a card that was taken over after its end had been sent is given up again`() {
        var user = sam()
        user.register(reported("A", "t1"), id: "1", at: now)
        #expect(user.grantStart(start(), request: "a", id: "2", at: now) == .adopted)
        user.pushEnded("t1", wasUnowned: true, at: later)
        #expect(user.cards.map(\.state) == [.ended])
        #expect(user.reachableAgain.count == 1)
        #expect(user.grantStart(start(), request: "b", id: "3", at: later) == .granted)
    }

    @Test func `a card that reports a new token after our end has missed the end`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.pushEnded("t1", at: now)
        user.register(reported("A", "t1", session: "s1"), id: "2", at: later)
        #expect(user.cards.map(\.state) == [.ended])
        user.register(reported("A", "t2", session: "s1"), id: "3", at: later)
        #expect(user.cards.map(\.state) == [.live])
    }

    @Test func `at launch what runs is to be shown again`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        _ = user.reconcile(running: ["A"], on: "phone", at: later)
        #expect(user.reachableAgain.map(\.sessionID) == ["s1"])
    }

    @Test func `old cards are forgotten, a swipe last`() {
        var user = sam()
        user.register(reported("A", "t1", session: "s1"), id: "1", at: now)
        user.register(reported("B", "t2", session: "s2"), id: "2", at: now)
        user.dismiss("A", on: "phone", session: nil, at: now)
        user.pushEnded("t2", at: now)
        user.forgetOldCards(at: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + User.endedIsKept + 1))
        #expect(user.cards.map(\.activityID) == ["A"])
        user.forgetOldCards(at: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + User.dismissalIsKept + 1))
        #expect(user.cards.isEmpty)
    }
}
