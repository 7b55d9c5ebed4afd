import Foundation
import Runtime
import Shared

/// The ways of the last texts through the services, hop by hop.
///
/// Keyed by the id of the trace, which Linq's webhook begins and every service carries on.
final class Trails: Sendable {
    /// Trails that are remembered, of everybody.
    static let most = 400
    /// Pushes of which it is remembered whose they are.
    static let mostPushes = 2000

    private struct State {
        var trails: [String: Trail] = [:]
        var order: [String] = []
        var trailOfPush: [String: String] = [:]
        var pushOrder: [String] = []
    }

    /// A function by itself would be wrapped once more at each look at it under the lock.
    private struct Listener {
        let tell: @Sendable (String) -> Void
    }

    private let state = Locked(State())
    private let listener = Locked<Listener?>(nil)

    /// Tells whose trail has changed.
    func onChange(_ body: @escaping @Sendable (String) -> Void) { listener.withLock { $0 = Listener(tell: body) } }

    private func changed(_ subject: String) { listener.withLock { $0 }?.tell(subject) }

    /// The id of the trace that a webhook begins.
    static func traceID(ofEvent eventID: String) -> String { eventID.filter { $0 != "-" } }

    /// The id of the trace in a `traceparent` header.
    static func traceID(inHeader traceparent: String?) -> String? {
        let parts = traceparent?.split(separator: "-", omittingEmptySubsequences: false)
        guard let parts, parts.count >= 4, parts[1].count == 32 else { return nil }
        return String(parts[1])
    }

    func begin(_ trail: Trail) {
        state.withLock { state in
            guard state.trails[trail.id] == nil else { return }
            state.trails[trail.id] = trail
            state.order.append(trail.id)
            if state.order.count > Self.most { state.trails[state.order.removeFirst()] = nil }
        }
        changed(trail.subject)
    }

    /// Adds a hop to the trail with this id; false if there is none.
    @discardableResult func add(_ hop: Hop, to id: String?) -> Bool {
        guard let id else { return false }
        let subject = state.withLock { state in
            state.trails[id]?.add(hop)
            return state.trails[id]?.subject
        }
        guard let subject else { return false }
        changed(subject)
        return true
    }

    /// Adds a hop of a push, which begins a trail of its own if no text has caused it.
    func add(_ hop: Hop, push apnsID: String, traceID: String?, subject: @autoclosure () -> String?, title: String) {
        state.withLock { state in
            let id = traceID.flatMap { state.trails[$0]?.id } ?? "push-\(apnsID)"
            guard state.trailOfPush.updateValue(id, forKey: apnsID) == nil else { return }
            state.pushOrder.append(apnsID)
            if state.pushOrder.count > Self.mostPushes { state.trailOfPush[state.pushOrder.removeFirst()] = nil }
        }
        guard let id = state.withLock({ $0.trailOfPush[apnsID] }) else { return }
        if id.hasPrefix("push-") {
            guard let subject = subject() else { return }
            begin(Trail(id: id, subject: subject, title: title, isText: false))
        }
        add(hop, to: id)
    }

    /// Adds what the phone made of a push.
    func add(_ hop: Hop, push apnsID: String) { add(hop, to: state.withLock { $0.trailOfPush[apnsID] }) }

    func trail(_ id: String) -> Trail? { state.withLock { $0.trails[id] } }

    /// The last trails of these handles or users, the newest last.
    func recent(of subjects: Set<String>) -> [Trail] {
        state.withLock { state in state.order.compactMap { state.trails[$0] }.filter { subjects.contains($0.subject) } }
    }
}
