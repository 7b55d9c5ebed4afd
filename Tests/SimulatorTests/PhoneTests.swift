import Foundation
import Shared
import Testing

@testable import Simulator

/// A phone whose time stands still until a test moves it.
private struct Bench {
    static let origin = Date(timeIntervalSince1970: 1_790_000_000)

    var phone: VirtualPhone
    var now = Bench.origin
    private(set) var actions: [PhoneAction] = []
    private var serial = 0

    init(system: VirtualPhone.System = .iOS18, types: [String] = ["CoachAttributes"]) {
        phone = VirtualPhone(deviceID: "device", userID: "user-1", system: system, attributesTypes: types)
        actions = phone.onboard()
    }

    var seconds: Int64 { Int64(now.timeIntervalSince1970) }

    var startToken: String { phone.startTokens["CoachAttributes"] ?? "" }

    mutating func push(_ json: String, to token: String, expiration: Date? = nil) {
        serial += 1
        let push = Push(
            apnsID: "push-\(serial)", token: token, body: Array(json.utf8), priority: 10, expiration: expiration)
        actions = phone.receive(push, at: now)
    }

    mutating func start(_ changes: [String: String?] = [:]) {
        push(Self.body(event: "start", seconds, changes), to: startToken)
    }

    mutating func update(_ changes: [String: String?] = [:]) {
        push(Self.body(event: "update", seconds, changes), to: phone.cards.last?.token ?? "none")
    }

    mutating func end(_ changes: [String: String?] = [:]) {
        push(Self.body(event: "end", seconds, changes), to: phone.cards.last?.token ?? "none")
    }

    mutating func pass(_ interval: TimeInterval) {
        now += interval
        actions = phone.pass(at: now)
    }

    /// A good body, with some members changed or (for `nil`) left out; values are JSON text.
    static func body(event: String, _ seconds: Int64, _ changes: [String: String?]) -> String {
        var members: [String: String] = [
            "timestamp": "\(seconds)", "event": "\"\(event)\"",
            "content-state": #"{"calories":600,"goal":2100,"streak":1,"lastMeal":"Chicken bowl"}"#,
        ]
        if event == "start" {
            members["attributes-type"] = "\"CoachAttributes\""
            members["attributes"] = #"{"userID":"user-1","sessionID":"session-1"}"#
            members["alert"] = #"{"title":"Your day","body":"On screen"}"#
        }
        for (key, value) in changes { members[key] = value }
        return "{\"aps\":{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}}"
    }

    static func state(_ calories: Int) -> String {
        #"{"calories":\#(calories),"goal":2100,"streak":1,"lastMeal":"Soup"}"#
    }

    var calories: Int64? {
        phone.island.flatMap { try? JSONValue(parsing: $0.contentState)["calories"]?.integer }
    }

    var lastDrop: String? { phone.dropped.last?.reason }
}

@Suite struct PhoneTests {
    @Test func `a new phone registers a start token for each kind`() {
        let bench = Bench(types: ["CoachAttributes", "OrderAttributes"])
        let registered = bench.actions.compactMap { action -> String? in
            if case .registerStartToken(let type, _) = action { type } else { nil }
        }
        #expect(registered == ["CoachAttributes", "OrderAttributes"])
        #expect(Set(bench.phone.startTokens.values).count == 2)
    }

    @Test func `a start makes a card and an update token that the app registers`() throws {
        var bench = Bench()
        bench.start()
        let card = try #require(bench.phone.island)
        #expect(card.sessionID == "session-1")
        #expect(bench.calories == 600)
        let token = try #require(card.token)
        #expect(bench.actions == [.issued(token: token), .registerActivity(activityID: card.activityID)])
    }

    @Test func `an update moves the Island in place`() {
        var bench = Bench()
        bench.start()
        bench.now += 10
        bench.update(["content-state": Bench.state(1240)])
        #expect(bench.calories == 1240)
        #expect(bench.phone.cards.count == 1)
        #expect(bench.phone.dropped.isEmpty)
    }

    private static let badStarts: [([String: String?], String)] = [
        (["alert": nil], "a start needs an alert with title and body"),
        (["alert": #"{"title":"only"}"#], "a start needs an alert with title and body"),
        (["alert": #"{"sound":"default"}"#], "a start needs an alert with title and body"),
        (["attributes-type": nil], "a start needs attributes-type"),
        (["attributes-type": "\"coachAttributes\""], "the app has no ActivityAttributes type named coachAttributes"),
        (["attributes": nil], "a start needs attributes"),
        (["attributes": #"{"userID":5}"#], "unable to decode attributes"),
        (["content-state": nil], "aps has no content-state"),
        (
            ["content-state": #"{"calories":600.5,"goal":2100,"streak":1,"lastMeal":"x"}"#],
            "unable to decode content-state"
        ),
        (
            ["content-state": #"{"calories":"600","goal":2100,"streak":1,"lastMeal":"x"}"#],
            "unable to decode content-state"
        ),
        (
            ["content-state": #"{"calories":600,"goal":2100,"last_meal":"x","streak":1}"#],
            "unable to decode content-state"
        ),
        (["timestamp": nil], "aps has no timestamp"),
        (["timestamp": "1790000000000"], "the timestamp is more than eight hours ahead"),
        (["timestamp": "\"1790000000\""], "the body is not a Live Activity push"),
        (["event": nil], "aps has no event"),
        (["event": "\"update\""], "a push-to-start token takes the event start, not update"),
    ]

    @Test(arguments: badStarts) func `a start that iOS would drop in silence is dropped with its reason`(
        changes: [String: String?], reason: String
    ) throws {
        var bench = Bench()
        bench.start(changes)
        #expect(bench.phone.cards.isEmpty)
        #expect(bench.actions.isEmpty)
        let told = try #require(bench.lastDrop)
        #expect(told.hasPrefix(reason), "\(told)")
    }

    @Test func `an undecodable update leaves the old state and says where the fault is`() throws {
        var bench = Bench()
        bench.start()
        bench.update(["content-state": #"{"calories":"many","goal":2100,"streak":1,"lastMeal":"x"}"#])
        #expect(bench.calories == 600)
        #expect(try #require(bench.lastDrop).contains("calories"))
    }

    @Test func `localized alerts and extra keys are fine`() {
        var bench = Bench()
        bench.start([
            "alert": #"{"title":{"loc-key":"T","loc-args":["a"]},"body":{"loc-key":"B"},"sound":"default"}"#,
            "content-state": #"{"calories":1,"goal":2100,"streak":1,"lastMeal":"x","extra":[1,{"a":"}"}]}"#,
        ])
        #expect(bench.calories == 1)
    }

    @Test func `an older timestamp is ignored and the same one again does no harm`() {
        var bench = Bench()
        bench.start()
        bench.update(["timestamp": "\(bench.seconds + 5)", "content-state": Bench.state(900)])
        bench.update(["timestamp": "\(bench.seconds + 4)", "content-state": Bench.state(700)])
        #expect(bench.calories == 900)
        #expect(bench.lastDrop == "the timestamp is older than what is shown")
        bench.update(["timestamp": "\(bench.seconds + 5)", "content-state": Bench.state(900)])
        #expect(bench.phone.dropped.count == 1)
        bench.update(["timestamp": "\(bench.seconds + 5)", "content-state": Bench.state(901)])
        #expect(bench.calories == 900)
        #expect(bench.lastDrop == "another state with this timestamp is shown already")
    }

    @Test func `a timestamp more than eight hours ahead is dropped`() {
        var bench = Bench()
        bench.start()
        bench.update(["timestamp": "\(bench.seconds + 8 * 3600)", "content-state": Bench.state(900)])
        #expect(bench.calories == 900)
        bench.update(["timestamp": "\(bench.seconds + 8 * 3600 + 1)", "content-state": Bench.state(901)])
        #expect(bench.calories == 900)
    }

    @Test func `a card turns stale at its date and an update makes it fresh`() {
        var bench = Bench()
        bench.start(["stale-date": "\(bench.seconds + 60)"])
        #expect(bench.phone.nextChange == Bench.origin + 60)
        bench.pass(59)
        #expect(bench.phone.island?.phase == .active)
        bench.pass(1)
        #expect(bench.phone.island?.phase == .stale)
        bench.update(["stale-date": "\(bench.seconds + 60)", "content-state": Bench.state(2)])
        #expect(bench.phone.island?.phase == .active)
    }

    @Test(arguments: [(nil, 4 * 3600), (900, 900), (5 * 3600, 4 * 3600)] as [(Int64?, TimeInterval)])
    func `an ended card leaves the Island at once and the Lock Screen at its date`(
        dismissal: Int64?, stays: TimeInterval
    ) throws {
        var bench = Bench()
        bench.start()
        let card = try #require(bench.phone.island)
        bench.end(["dismissal-date": dismissal.map { "\(bench.seconds + $0)" }])
        #expect(bench.phone.island == nil)
        #expect(bench.actions.contains(.removeActivity(activityID: card.activityID, reason: .ended)))
        #expect(bench.actions.contains(.died(token: card.token ?? "", reason: .expired)))
        bench.pass(stays - 1)
        #expect(bench.phone.cards.count == 1)
        bench.pass(1)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `a dismissal date in the past removes the card at once`() {
        var bench = Bench()
        bench.start()
        bench.end(["dismissal-date": "\(bench.seconds - 1)", "content-state": nil])
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `an ended card takes no more pushes`() {
        var bench = Bench()
        bench.start()
        bench.end()
        bench.now += 1
        bench.update(["content-state": Bench.state(5)])
        #expect(bench.lastDrop == "the activity has ended")
    }

    @Test func `the system ends a card after eight hours and removes it after twelve`() throws {
        var bench = Bench()
        bench.start()
        let id = try #require(bench.phone.island?.activityID)
        bench.pass(8 * 3600 - 1)
        #expect(bench.phone.island != nil)
        bench.pass(1)
        #expect(bench.phone.island == nil)
        #expect(bench.actions.contains(.removeActivity(activityID: id, reason: .ended)))
        bench.pass(4 * 3600)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `a swipe removes the card and the app says so`() throws {
        var bench = Bench()
        bench.start()
        let card = try #require(bench.phone.island)
        let actions = bench.phone.dismiss(card.activityID)
        #expect(
            actions == [
                .died(token: card.token ?? "", reason: .expired),
                .removeActivity(activityID: card.activityID, reason: .dismissed),
            ])
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `a swipe while the app is quit is told at the next launch`() throws {
        var bench = Bench()
        bench.start()
        let id = try #require(bench.phone.island?.activityID)
        _ = bench.phone.forceQuit()
        let actions = bench.phone.dismiss(id)
        #expect(!actions.contains(.removeActivity(activityID: id, reason: .dismissed)))
        #expect(bench.phone.open().last == .reconcile(running: []))
    }

    @Test func `a quit app gets a card but no update token until it is opened`() throws {
        var bench = Bench()
        _ = bench.phone.forceQuit()
        bench.start()
        let card = try #require(bench.phone.island)
        #expect(card.token == nil)
        #expect(bench.actions.isEmpty)
        let actions = bench.phone.open()
        #expect(actions.contains(.registerActivity(activityID: card.activityID)))
        #expect(actions.last == .reconcile(running: [card.activityID]))
    }

    @Test func `an open app shows no Island`() {
        var bench = Bench()
        bench.start()
        _ = bench.phone.open()
        #expect(bench.phone.island == nil)
        _ = bench.phone.leave()
        #expect(bench.phone.island != nil)
    }

    @Test func `an offline phone gets the last of what came and the app speaks up afterwards`() throws {
        var bench = Bench()
        bench.start()
        let id = try #require(bench.phone.island?.activityID)
        _ = bench.phone.goOffline()
        bench.now += 1
        bench.update(["content-state": Bench.state(1)])
        bench.now += 1
        bench.update(["content-state": Bench.state(2)])
        #expect(bench.calories == 600)
        #expect(bench.phone.dropped.count == 1)
        #expect(bench.phone.goOnline(at: bench.now).isEmpty)
        #expect(bench.calories == 2)

        _ = bench.phone.goOffline()
        #expect(!bench.phone.dismiss(id).contains(.removeActivity(activityID: id, reason: .dismissed)))
        let actions = bench.phone.goOnline(at: bench.now)
        #expect(actions == [.removeActivity(activityID: id, reason: .dismissed)])
    }

    @Test func `an offline phone loses what expires or may be tried once only`() {
        var bench = Bench()
        bench.start()
        let token = bench.phone.cards.last?.token ?? ""
        _ = bench.phone.goOffline()
        let body = Bench.body(event: "update", bench.seconds + 1, ["content-state": Bench.state(1)])
        bench.push(body, to: token, expiration: Date(timeIntervalSince1970: 0))
        #expect(bench.phone.stored == nil)
        bench.push(body, to: token, expiration: bench.now + 60)
        bench.now += 61
        _ = bench.phone.goOnline(at: bench.now)
        #expect(bench.calories == 600)
        #expect(bench.lastDrop == "expired at APNs while the phone was offline")
    }

    @Test func `a reinstall ends every token and makes new ones`() throws {
        var bench = Bench()
        bench.start()
        let oldStart = bench.startToken
        let update = try #require(bench.phone.island?.token)
        let actions = bench.phone.reinstall()
        #expect(actions.contains(.died(token: update, reason: .unregistered)))
        #expect(actions.contains(.died(token: oldStart, reason: .unregistered)))
        #expect(actions.contains(.registerStartToken(attributesType: "CoachAttributes", token: bench.startToken)))
        #expect(bench.startToken != oldStart)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `new tokens are registered and the old ones die`() throws {
        var bench = Bench()
        bench.start()
        let card = try #require(bench.phone.island)
        let actions = bench.phone.rotateTokens()
        #expect(actions.contains(.died(token: card.token ?? "", reason: .expired)))
        #expect(actions.contains(.registerActivity(activityID: card.activityID)))
        #expect(bench.phone.island?.token != card.token)
    }

    @Test func `the eleventh start in an hour is over the budget`() {
        var bench = Bench()
        for _ in 0..<10 {
            bench.start()
            bench.end(["dismissal-date": "\(bench.seconds - 1)"])
            bench.now += 1
        }
        #expect(bench.phone.dropped.isEmpty)
        bench.start()
        #expect(bench.lastDrop == "push-to-start budget exceeded")
        bench.pass(3600)
        bench.start()
        #expect(bench.phone.island != nil)
    }

    @Test func `iOS 17 starts nothing with a channel`() {
        var bench = Bench(system: .iOS17)
        bench.start(["input-push-channel": "\"dHN0LXNyY2gtY2hubA==\""])
        #expect(bench.phone.cards.isEmpty)
        bench.start(["input-push-token": "1"])
        #expect(bench.phone.cards.count == 1)
    }

    @Test func `of two cards the more relevant one is on the Island and of equals the first`() throws {
        var bench = Bench()
        bench.start()
        bench.now += 1
        let another = #"{"userID":"user-1","sessionID":"session-2"}"#
        bench.start(["content-state": Bench.state(2), "attributes": another])
        #expect(bench.calories == 600)
        bench.update(["relevance-score": "50", "content-state": Bench.state(3), "timestamp": "\(bench.seconds + 1)"])
        #expect(bench.calories == 3)
    }

    @Test func `an activity of the app's own has a token and no session`() throws {
        var bench = Bench()
        let kind = try IslandKind.named("CoachAttributes")
        let actions = try bench.phone.startFromApp(kind, state: kind.example(), at: bench.now)
        let card = try #require(bench.phone.cards.first)
        #expect(card.sessionID == nil)
        #expect(actions.contains(.registerActivity(activityID: card.activityID)))
        _ = bench.phone.leave()
        #expect(bench.calories == 1240)
    }

    @Test func `cards that the registry does not want are ended by the app`() throws {
        var bench = Bench()
        bench.start()
        let id = try #require(bench.phone.island?.activityID)
        let actions = bench.phone.endFromApp([id, "unknown"], at: bench.now)
        #expect(actions.contains(.removeActivity(activityID: id, reason: .ended)))
        #expect(bench.phone.cards.isEmpty)
    }
}
