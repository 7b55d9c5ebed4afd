import APNSClient
import Shared
import Stage
import Testing

@testable import APNSPusher

/// What follows from what comes of a push, without anybody to send it to.
@Suite struct `A step on its way` {
    private let start = Timestamp(millisecondsSince1970: 1000)

    private func work(_ step: (RegistryRecord.Device) -> IslandPlan.Step) throws -> StepWork {
        let token = RegistryRecord.StartToken(
            attributesType: "CoachAttributes", token: "aa", environment: .production, bundleID: nil,
            wantsInputPushToken: true, registeredAt: start)
        let device = RegistryRecord.Device(deviceID: "d", startTokens: [token], activities: [card("bb"), card("cc")])
        let state = #"{"calories":1,"goal":2,"lastMeal":"","streak":1}"#
        let desired = DesiredIsland(
            handle: "+12025559876", userID: "u", attributesType: "CoachAttributes", sessionID: "s1",
            sessionStartedAt: start, timestamp: 100,
            desired: .show(DesiredIsland.Card(contentState: state, staleDate: 200, alert: nil)), priority: 10,
            receivedAt: nil)
        let builder = PushBuilder(
            desired: desired, kind: try IslandKind.named("CoachAttributes"), defaultBundleID: "app")
        return try StepWork(step(device), builder, now: 100)
    }

    private func card(_ token: String) -> RegistryRecord.Activity {
        RegistryRecord.Activity(
            attributesType: "CoachAttributes", sessionID: nil, generation: 0, state: .live, activityID: token,
            token: token, environment: .production, bundleID: nil, registeredAt: start, startedAt: start)
    }

    private func starts() throws -> StepWork {
        try work { .start($0, $0.startTokens[0], thenEnd: [$0.activities[0]], orUpdate: nil) }
    }

    private let granted = RegistryStartAnswer(isGranted: true, reason: nil, grant: "g")
    private let denied = RegistryStartAnswer(isGranted: false, reason: "no")

    private func refusal(_ work: StepWork) -> RegistryStart? {
        guard case .tell(.startRefused(let start)) = work.next else { return nil }
        return start
    }

    private func push(_ work: StepWork) -> StepWork.Push? {
        guard case .push(let push) = work.next else { return nil }
        return push
    }

    private func verdict(_ work: StepWork) -> Verdict? {
        guard case .finish(let verdict) = work.next else { return nil }
        return verdict
    }

    @Test func `a start is sent only with leave, and the old card ends once it was accepted`() throws {
        var work = try starts()
        guard case .ask = work.next else { return #expect(Bool(false), "not asked") }
        var refused = work
        refused.answered(denied)
        #expect(verdict(refused) == .done)
        work.answered(granted)
        #expect(push(work)?.event == .start)
        work.pushed(.accepted(.production))
        guard case .tell(.startAccepted(let accepted)) = work.next else { return #expect(Bool(false), "not told") }
        #expect(accepted.grant == "g" && accepted.sessionID == "s1")
        work.told()
        #expect(push(work)?.event == .end)
        work.pushed(.accepted(.production))
        guard case .tell(.activityEnded(let ended)) = work.next else { return #expect(Bool(false), "not told") }
        #expect(ended.token == "bb" && ended.wasUnowned == true)
        work.told()
        #expect(verdict(work) == .done)
    }

    @Test func `a card in whose place another one may be started goes on without leave for that`() throws {
        var work = try work { .start($0, $0.startTokens[0], thenEnd: [], orUpdate: $0.activities[1]) }
        guard case .ask(let question) = work.next else { return #expect(Bool(false), "not asked") }
        #expect(question.timestamp == 100 && question.isFromUser == nil)
        work.answered(denied)
        #expect(push(work)?.event == .update && push(work)?.request.token == "cc")
    }

    @Test func `a start of unknown outcome is left as it is`() throws {
        var work = try starts()
        work.answered(granted)
        work.pushed(.unknown(reason: "reset"))
        #expect(verdict(work) == .done)
    }

    @Test func `a refused start lifts its own fence, after the dead token has gone`() throws {
        var work = try starts()
        work.answered(granted)
        work.pushed(.tokenDead(at: Timestamp(millisecondsSince1970: 2000), reason: "Unregistered"))
        guard case .tell(.tokenDead(let dead)) = work.next else { return #expect(Bool(false), "not told") }
        #expect(dead.token == "aa")
        work.told()
        #expect(refusal(work)?.grant == "g" && refusal(work)?.mayRetry == true && refusal(work)?.token == "aa")

        var later = try starts()
        later.answered(granted)
        later.pushed(.notNow(reason: "503", pause: .seconds(10)))
        #expect(refusal(later)?.mayRetry == true)
        later.told()
        #expect(verdict(later) == .handBack(retryAfter: .seconds(10)))

        var bad = try starts()
        bad.answered(granted)
        bad.pushed(.refused(reason: "400 BadTopic"))
        #expect(refusal(bad)?.mayRetry == nil)
    }

    @Test func `an end that was not accepted is not told as one`() throws {
        for outcome in [PushDelivery.Outcome.superseded, .notNow(reason: "", pause: .zero)] {
            var work = try work { .end($0, $0.activities[0]) }
            work.pushed(outcome)
            #expect(verdict(work) != nil)
        }
    }

    @Test func `leave to start instead of taking a card over is used`() throws {
        var work = try work { .adopt($0, $0.activities[0], $0.startTokens[0]) }
        var adopted = work
        adopted.answered(denied)
        #expect(push(adopted)?.event == .update)
        work.answered(granted)
        #expect(push(work)?.event == .start)
        var tokenless = try self.work { .adopt($0, $0.activities[0], nil) }
        tokenless.answered(granted)
        #expect(refusal(tokenless)?.mayRetry == true)
    }

    @Test func `a 410 older than the token's registration is doubted once`() throws {
        var work = try work { .update($0, $0.activities[0]) }
        let sent = try #require(push(work))
        var tries = PushTries(sent, fallback: .sandbox)
        let body = Array(#"{"reason":"Unregistered","timestamp":999}"#.utf8)
        let answer = APNSAnswer(status: 410, body: body, now: start)
        #expect(tries.answered(answer, now: start) == .pause(atLeast: .zero))
        let dead = PushDelivery.Outcome.tokenDead(at: Timestamp(millisecondsSince1970: 999), reason: "Unregistered")
        #expect(tries.answered(answer, now: start) == .finished(dead))
        work.pushed(dead)
        guard case .tell(.tokenDead) = work.next else { return #expect(Bool(false), "not told") }
    }

    @Test func `what may have been taken goes out again, unless it is a start`() throws {
        var started = try starts()
        started.answered(granted)
        var tries = PushTries(try #require(push(started)), fallback: .sandbox)
        #expect(tries.failed("reset", wasSent: false) == .pause(atLeast: .zero))
        #expect(tries.failed("reset", wasSent: true) == .finished(.unknown(reason: "reset")))
        let update = try work { .update($0, $0.activities[0]) }
        var again = PushTries(try #require(push(update)), fallback: .sandbox)
        #expect(again.failed("reset", wasSent: true) == .pause(atLeast: .zero))
    }

    @Test func `what comes late is not sent with a time that has passed`() {
        #expect(Expiration.update(now: 1000, staleDate: 1100, priority: 10) == 1100)
        #expect(Expiration.update(now: 1000, staleDate: 9000, priority: 10) == 1900)
        #expect(Expiration.update(now: 1000, staleDate: 9000, priority: 5) == 9000)
        #expect(Expiration.update(now: 1000, staleDate: 900, priority: 5) == 1900)
        #expect(Expiration.end(now: 1000, dismissalDate: 1100) == 1100)
        #expect(Expiration.end(now: 1000, dismissalDate: 900) == 1000 + 4 * 3600)
        #expect(Expiration.end(now: 1000, dismissalDate: nil) == 1000 + 4 * 3600)
    }
}
