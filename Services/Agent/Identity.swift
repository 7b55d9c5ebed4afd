import Foundation
import Shared

/// One person, one state: what becomes of a state when the registry learns whose handle it is.
enum Identity {
    /// The state to go on with, now that `record` says who writes, and the one that made way if it was somebody else's.
    static func settle(_ state: UserState, for record: RegistryRecord) -> (UserState, replaced: UserState?) {
        guard let userID = record.userID, state.userID != userID else { return (state, nil) }
        guard state.userID == nil else {
            // The handle is another user's now, who must not see what the one before has left.
            var fresh = UserState(handle: state.handle)
            fresh.userID = userID
            return (fresh, state)
        }
        var known = state
        known.userID = userID
        return (known, nil)
    }

    /// Sends the state to the partition of the user's canonical handle, or forgets it.
    ///
    /// A state that is known to be another user's stays where it is: its own change comes by an event of its own.
    static func move(
        _ state: UserState, as change: IdentityChanged, eventKey: String, partitions: Int, at now: Timestamp,
        traceparent: String?
    ) throws -> Turn.Outcome {
        if change.isErased == true { return Turn.Outcome(state: state, isGone: true) }
        let isTheirs = state.userID == nil || state.userID == change.userID
        guard change.canonicalHandle != state.handle, isTheirs, state.model != nil || state.session != nil else {
            return Turn.Outcome(state: state)
        }
        let moved = StateMoved(
            from: state.handle, state: String(decoding: try JSON.encode(state, sortsKeys: false), as: UTF8.self))
        let event = InboundEvent(handle: change.canonicalHandle, isPassedOn: true, content: .stateMoved(moved))
        let outgoing = try Outgoing(
            event, type: event.type, id: Outgoing.id(eventKey, 0), to: .inbound, key: change.canonicalHandle,
            partitions: partitions, time: now, traceparent: traceparent)
        return Turn.Outcome(state: state, isGone: true, outgoing: [outgoing])
    }

    /// Takes over a state that was kept under another handle; where there is one already, that one stays.
    static func adopt(
        _ moved: StateMoved, beside state: UserState, for record: RegistryRecord
    ) throws -> Turn.Outcome {
        let arrived = try JSON.decode(UserState.self, from: Array(moved.state.utf8))
        guard state.model == nil, state.session == nil else {
            return Turn.Outcome(state: state, replaced: arrived)
        }
        var adopted = arrived
        adopted.handle = state.handle
        adopted.userID = record.userID
        return Turn.Outcome(state: adopted)
    }
}
