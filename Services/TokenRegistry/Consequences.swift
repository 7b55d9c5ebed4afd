import Shared

/// What must follow from a stored change, for the other services to know of it.
struct Consequences: Sendable, Equatable {
    /// By the handle whose partition they go through, in order.
    var events: [InboundEvent] = []
    /// The handles whose cached answers are not true any more.
    var staleHandles: [Handle] = []

    /// Compares users before and after a change.
    ///
    /// A handle that moved is in two of the pairs.
    ///
    /// - Parameter isErasure: The user is to be forgotten, by the agent as well.
    init(_ changes: [(before: User, after: User)], isErasure: Bool = false) {
        let before = Self.identities(changes.map(\.before))
        let after = Self.identities(changes.map(\.after))
        let touched = changes.flatMap { $0.before.handles + $0.after.handles }.map(\.handle)
        var seen: Set<Handle> = []
        staleHandles = touched.filter { seen.insert($0).inserted }
        for handle in staleHandles where before[handle] != after[handle] && !isErasure {
            let nobody = IdentityChanged(userID: nil, canonicalHandle: handle.text)
            events.append(InboundEvent(handle: handle.text, content: .identityChanged(after[handle] ?? nobody)))
        }
        if isErasure { events = changes.flatMap { Self.erasures($0.before) } }
        events = Self.movedStates(changes).filter { !events.contains($0) } + events
        for (before, after) in changes { events += Self.reachable(before, after) }
    }

    /// A user's state is kept with their canonical handle: when another one takes its place, the state has to follow.
    ///
    /// The handle itself may be somebody else's from now on, so this comes before that is said.
    private static func movedStates(_ changes: [(before: User, after: User)]) -> [InboundEvent] {
        changes.compactMap { before, after in
            guard let old = before.canonicalHandle, let new = after.canonicalHandle, old != new else { return nil }
            let identity = IdentityChanged(userID: after.id, canonicalHandle: new.text)
            return InboundEvent(handle: old.text, content: .identityChanged(identity))
        }
    }

    /// The agent keeps what a user's last handle has left when there is no other for it to follow to.
    private static func erasures(_ user: User) -> [InboundEvent] {
        (user.formerHandles + user.handles.map(\.handle)).map { handle in
            InboundEvent(
                handle: handle.text,
                content: .identityChanged(
                    IdentityChanged(
                        userID: nil, canonicalHandle: handle.text, isErased: true, erasedUserID: user.id)))
        }
    }

    private static func identities(_ users: [User]) -> [Handle: IdentityChanged] {
        var identities: [Handle: IdentityChanged] = [:]
        for user in users {
            for owned in user.handles {
                let canonical = user.canonicalHandle ?? owned.handle
                identities[owned.handle] = IdentityChanged(userID: user.id, canonicalHandle: canonical.text)
            }
        }
        return identities
    }

    /// A token came in that was not there before: what could not be shown on that device can be shown now.
    ///
    /// When the user's state lives with another handle than before, all tokens are news to it.
    private static func reachable(_ before: User, _ after: User) -> [InboundEvent] {
        guard let handle = after.canonicalHandle else { return [] }
        let before = before.canonicalHandle == handle ? before : User(id: after.id)
        let newTokens = after.startTokens.filter { new in
            !before.startTokens.contains {
                $0.deviceID == new.deviceID && $0.attributesType == new.attributesType && $0.token == new.token
            }
        }
        let newCards = after.cards.filter { new in
            new.state == .live && new.token != nil
                && !before.cards.contains { $0.id == new.id && $0.state == .live && $0.token == new.token }
        }
        let contents =
            newTokens.map {
                IslandReachable(
                    userID: after.id, deviceID: $0.deviceID, attributesType: $0.attributesType, sessionID: nil)
            }
            + newCards.map {
                IslandReachable(
                    userID: after.id, deviceID: $0.deviceID, attributesType: $0.attributesType,
                    sessionID: $0.sessionID)
            }
        return (contents + after.reachableAgain).map {
            InboundEvent(handle: handle.text, content: .islandReachable($0))
        }
    }
}
