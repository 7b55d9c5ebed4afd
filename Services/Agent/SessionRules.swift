import Crypto
import Foundation
import Runtime
import Shared

/// When a session begins, ends, and gets a new card.
struct SessionRules: Sendable {
    /// The silence after which a session is over.
    let idle: Duration
    /// How long a card may be up before the next one takes over: the system ends it eight hours after its start.
    static let cardLife = Duration.seconds(8 * 3600 - 15 * 60)

    /// The session that an event at `now` belongs to: the open one, or a new one.
    ///
    /// - Parameter eventKey: Gives a new session its id, so that a second try makes the same one.
    func session(_ current: UserState.Session?, at now: Timestamp, eventKey: String) -> (UserState.Session, isNew: Bool)
    {
        if var session = current, session.isOpen, now < idleEnd(session) {
            session.lastActivityAt = max(session.lastActivityAt, now)
            return (session, false)
        }
        // Later than the one before, whatever the clock says.
        let startedAt = current.map { max(now, $0.startedAt + .milliseconds(1)) } ?? now
        let session = UserState.Session(
            id: Self.id(startedAt: startedAt, eventKey: eventKey), startedAt: startedAt, lastActivityAt: now,
            cardGeneration: 0, cardStartedAt: now, isOpen: true,
            // Until a text says otherwise, they write as they did last.
            isByIMessage: current?.isByIMessage ?? true)
        return (session, true)
    }

    /// A session's id begins with its time, so that of two ids the larger is the later session's.
    ///
    /// Laid out like a UUID of version 7, with the event's hash for the random bits.
    private static func id(startedAt: Timestamp, eventKey: String) -> String {
        let hash = UUIDFromName.make("isthmus.session", eventKey).uuidString.lowercased()
        let time = String(startedAt.millisecondsSince1970, radix: 16)
        let digits = String(repeating: "0", count: max(0, 12 - time.count)) + time.suffix(12)
        return "\(digits.prefix(8))-\(digits.suffix(4))\(hash.dropFirst(13))"
    }

    /// The next moment that the session waits for: its idle end or the renewal of its card.
    func dueAt(_ session: UserState.Session?) -> Timestamp? {
        guard let session, session.isOpen else { return nil }
        return min(idleEnd(session), renewal(session))
    }

    func idleEnd(_ session: UserState.Session) -> Timestamp { session.lastActivityAt + idle }

    func renewal(_ session: UserState.Session) -> Timestamp { session.cardStartedAt + Self.cardLife }
}

extension Timestamp {
    static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(millisecondsSince1970: time.millisecondsSince1970 + duration.milliseconds)
    }
}
