import Foundation
import Shared

/// One person, one state: what becomes of a state when the registry learns whose handle it is.
enum Identity {
    /// The state to go on with, now that `record` says who writes, and the one that made way if it was somebody else's.
    static func settle(_ state: UserState, for record: RegistryRecord) -> (UserState, replaced: UserState?) {
        guard let userID = record.userID, !state.isOf(userID) else { return (state, nil) }
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

    /// Does what the registry says of a handle to the state that is kept under it: sends it to the partition of the user's
    /// canonical handle, leaves it to the handle's owner, or forgets it.
    ///
    /// The event counts and not what the registry knows by now: a handle's events come in the order of the changes. So
    /// a state has gone with its user before the handle's next owner is heard of.
    ///
    /// A state that is known to be another user's stays where it is: its own change comes by an event of its own.
    static func change(
        _ state: UserState, as change: IdentityChanged, for record: RegistryRecord, eventKey: String, partitions: Int,
        at now: Timestamp, traceparent: String?
    ) throws -> Turn.Outcome {
        if change.isErased == true {
            return Turn.Outcome(state: state, isGone: change.erases(state.userID, of: record) || state.isEmpty)
        }
        guard let userID = change.userID else { return Turn.Outcome(state: state, isGone: state.isEmpty) }
        guard change.canonicalHandle != state.handle else {
            let owner = RegistryRecord(
                generation: 0, userID: userID, canonicalHandle: change.canonicalHandle, devices: [])
            let (settled, replaced) = settle(state, for: owner)
            return Turn.Outcome(state: settled, isGone: settled.isEmpty, replaced: replaced)
        }
        guard !state.isEmpty, state.userID == nil || state.isOf(userID) else {
            return Turn.Outcome(state: state, isGone: state.isEmpty)
        }
        let moved = StateMoved(
            from: state.handle, state: String(decoding: try JSON.encode(state, sortsKeys: false), as: UTF8.self),
            userID: userID)
        let event = InboundEvent(handle: change.canonicalHandle, isPassedOn: true, content: .stateMoved(moved))
        let outgoing = try Outgoing(
            event, type: event.type, id: Outgoing.id(eventKey, 0), to: .inbound, key: change.canonicalHandle,
            partitions: partitions, time: now, traceparent: traceparent)
        return Turn.Outcome(state: state, isGone: true, outgoing: [outgoing])
    }

    /// Takes over a state that was kept under another handle.
    ///
    /// Where there is one already, the one that has been the registered user's goes on: it has their history. The other is
    /// what somebody unknown has written, and is kept for the record.
    ///
    /// - Parameter record: What the registry knows of the user whom the state was moved for.
    static func adopt(
        _ moved: StateMoved, beside stored: UserState, for record: RegistryRecord
    ) throws -> Turn.Outcome {
        var arrived = try JSON.decode(UserState.self, from: Array(moved.state.utf8))
        let wasKnown = moved.userID != nil && arrived.userID != nil
        arrived.userID = moved.userID ?? arrived.userID
        guard let userID = record.userID else {
            // The user has been erased meanwhile, and this with them; an older build does not say whose it is.
            let isErased = moved.userID != nil
            return Turn.Outcome(state: stored, isGone: stored.isEmpty, replaced: isErased ? nil : arrived)
        }
        // The handle has been given up on the way, and maybe is somebody else's.
        guard moved.userID?.isSame(as: userID) ?? true, record.canonicalHandle == stored.handle else {
            return Turn.Outcome(state: stored, isGone: stored.isEmpty, replaced: arrived)
        }
        let (own, strangers) = settle(stored, for: record)
        guard own.isEmpty || wasKnown else { return Turn.Outcome(state: own, replaced: arrived) }
        return Turn.Outcome(
            state: arrived.goingOn(after: own, as: userID), replaced: own.isEmpty ? strangers : own)
    }
}

extension IdentityChanged {
    /// Whether a state of `userID` is to be forgotten with the erased user's.
    ///
    /// An unknown writer's is, unless the handle has another owner by now, whom the agent has not heard of.
    func erases(_ userID: String?, of owner: RegistryRecord) -> Bool {
        // Without a name the event is of an older build, which only told of handles that the user had.
        guard let erasedUserID else { return true }
        return userID.map(erasedUserID.isSame) ?? (owner.userID.map(erasedUserID.isSame) ?? true)
    }
}

extension UserState {
    /// Whether there is nothing in it that anybody could miss.
    var isEmpty: Bool { model == nil && session == nil && island == nil }

    func isOf(_ userID: String) -> Bool { self.userID?.isSame(as: userID) ?? false }

    /// This state in the place of `other`, which was kept under the canonical handle until now.
    fileprivate func goingOn(after other: UserState, as userID: String) -> UserState {
        var state = self
        state.handle = other.handle
        state.userID = userID
        state.lastTimestamps.merge(other.lastTimestamps) { max($0, $1) }
        // They wrote from the new handle last.
        if let chat = other.lastChat { (state.lastChat, state.lastSender) = (chat, other.lastSender) }
        // A phone that has a later session's card takes nothing of an earlier one.
        if let later = other.session, session.map({ $0.startedAt < later.startedAt }) ?? true {
            state.session = later
            if island.map({ $0.dismissalDate != nil }) ?? true { state.island = other.island }
        }
        return state
    }
}
