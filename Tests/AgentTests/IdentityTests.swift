import Foundation
import Shared
import Testing

@testable import Agent

@Suite struct `One person, one state` {
    private let at = Timestamp(millisecondsSince1970: 1_790_000_000_000)
    private let phone = "+12025559876"
    private let email = "sam@example.com"

    private func state(_ handle: String, user: String? = nil, model: String? = "{}") -> UserState {
        var state = UserState(handle: handle)
        state.userID = user
        state.model = model
        return state
    }

    private func record(_ user: String?) -> RegistryRecord {
        RegistryRecord(generation: 1, userID: user, canonicalHandle: phone, devices: [])
    }

    private func move(
        _ state: UserState, _ change: IdentityChanged, for owner: RegistryRecord? = nil
    ) throws -> Turn.Outcome {
        try Identity.change(
            state, as: change, for: owner ?? record(change.userID), eventKey: "e/1", partitions: 16, at: at,
            traceparent: "00-t-s-01")
    }

    private func moved(_ outcome: Turn.Outcome) throws -> StateMoved? {
        guard let outgoing = outcome.outgoing.first else { return nil }
        let event = try CloudEvent<InboundEvent>(decoding: Array(outgoing.body.utf8)).data
        guard case .stateMoved(let moved) = event.content else { return nil }
        #expect(event.handle == phone && event.isPassedOn)
        #expect(outgoing.traceparent == "00-t-s-01")
        #expect(outgoing.routingKey == Partition.name(Partition.of(phone, among: 16)))
        return moved
    }

    @Test func `the state of an unknown handle comes along when it becomes known`() throws {
        let outcome = try move(state(email, model: "{\"x\":1}"), IdentityChanged(userID: "u", canonicalHandle: phone))
        #expect(outcome.isGone)
        let arrived = try Identity.adopt(
            try #require(try moved(outcome)), beside: UserState(handle: phone), for: record("u"))
        #expect(arrived.state.model == "{\"x\":1}" && arrived.state.handle == phone && arrived.state.userID == "u")
        #expect(arrived.replaced == nil)
    }

    @Test func `where two states meet the registered user's stays, and the other is kept`() throws {
        let outcome = try move(state(email, model: "new"), IdentityChanged(userID: "u", canonicalHandle: phone))
        let own = state(phone, user: "u", model: "own")
        let met = try Identity.adopt(try #require(try moved(outcome)), beside: own, for: record("u"))
        #expect(met.state == own)
        #expect(met.replaced?.model == "new")
    }

    @Test func `a canonical handle stays where it is, and another user's state is not taken along`() throws {
        let own = state(phone, user: "u")
        #expect(try move(own, IdentityChanged(userID: "u", canonicalHandle: phone)).outgoing.isEmpty)
        let stranger = try move(state(email, user: "a"), IdentityChanged(userID: "b", canonicalHandle: phone))
        #expect(stranger.outgoing.isEmpty && !stranger.isGone)
        #expect(
            try move(UserState(handle: email), IdentityChanged(userID: "u", canonicalHandle: phone)).outgoing.isEmpty)
    }

    @Test func `a handle's new owner sees nothing of the one before`() {
        let (fresh, replaced) = Identity.settle(state(phone, user: "a", model: "secret"), for: record("b"))
        #expect(fresh.model == nil && fresh.userID == "b")
        #expect(replaced?.model == "secret")
        let (same, none) = Identity.settle(state(phone, user: "b", model: "m"), for: record("b"))
        #expect(same.model == "m" && none == nil)
        // The registry being asked too early, or having forgotten, takes nothing away.
        #expect(Identity.settle(state(phone, user: "b", model: "m"), for: record(nil)).0.model == "m")
    }

    @Test func `an erased user leaves nothing`() throws {
        let outcome = try move(
            state(phone, user: "u"), IdentityChanged(userID: nil, canonicalHandle: phone, isErased: true))
        #expect(outcome.isGone && outcome.outgoing.isEmpty)
    }

    @Test func `an erased user's former handle is left to whoever has it now`() throws {
        let erased = IdentityChanged(userID: nil, canonicalHandle: phone, isErased: true, erasedUserID: "u")
        #expect(try move(state(phone, user: "u"), erased).isGone)
        #expect(try move(state(phone, user: "u"), erased, for: record("v")).isGone)
        #expect(try !move(state(phone, user: "v"), erased, for: record("v")).isGone)
        #expect(try move(state(phone), erased).isGone, "a writer who was not known goes with the handle")
        #expect(try !move(state(phone), erased, for: record("v")).isGone, "unless it is somebody else's by now")
    }

    @Test func `a state on its way to a handle that is somebody else's by now does not become theirs`() throws {
        let moved = try #require(
            try moved(move(state(email, model: "sam's"), IdentityChanged(userID: "u", canonicalHandle: phone))))
        let strangers = try Identity.adopt(moved, beside: UserState(handle: phone), for: record("v"))
        #expect(strangers.state.model == nil && strangers.replaced?.model == "sam's")
        // And of one who was erased meanwhile nothing is kept.
        let erased = try Identity.adopt(moved, beside: UserState(handle: phone), for: .unknown(""))
        #expect(erased.isGone && erased.replaced == nil)
    }

    @Test func `ids that Unicode calls equivalent are two users`() {
        let (fresh, replaced) = Identity.settle(state(phone, user: "zo\u{EB}", model: "m"), for: record("zoe\u{308}"))
        #expect(fresh.model == nil && replaced?.model == "m")
    }
}
