import HTTPServer
import Runtime

/// Tells open pages what changed: each gets the whole state of the user that it shows, a moment after a change.
final class EventHub: Sendable {
    /// Pages at once; more are refused.
    static let most = 100
    /// Changes within this time go out as one.
    static let pause = Duration.milliseconds(30)

    private struct Viewer {
        let stream: HTTPBodyStream
        let subject: String
    }

    private struct State {
        var viewers: [Int: Viewer] = [:]
        /// What was last told to all pages, by the event's name: a new page is told it at once.
        var announced: [String: [UInt8]] = [:]
        var serial = 0
        var changed: Set<String> = []
        var pump: Task<Void, Never>?
    }

    private let state = Locked(State())
    /// The state of a subject, as JSON without line ends.
    private let render: @Sendable (String) -> [UInt8]

    init(render: @escaping @Sendable (String) -> [UInt8]) { self.render = render }

    /// Opens a stream of server-sent events about `subject`: a user, or a handle that is nobody's yet.
    func open(_ responder: HTTPResponder, about subject: String) {
        guard state.withLock({ $0.viewers.count < Self.most }) else {
            return responder.respond(.text(503, "too many pages are open"))
        }
        let stream = responder.stream(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
        let (number, announced) = state.withLock { state in
            state.serial += 1
            state.viewers[state.serial] = Viewer(stream: stream, subject: subject)
            return (state.serial, state.announced)
        }
        stream.onClose { [weak self] in self?.state.withLock { $0.viewers[number] = nil } }
        stream.write(Array("retry: 1000\n\n".utf8))
        send("state", render(subject), to: [stream])
        for (name, json) in announced { send(name, json, to: [stream]) }
    }

    var hasViewers: Bool { state.withLock { !$0.viewers.isEmpty } }

    /// Tells every page something that concerns all, unless it was told just this before.
    func announce(_ name: String, _ json: [UInt8]) {
        let streams = state.withLock { state in
            guard state.announced.updateValue(json, forKey: name) != json else { return [HTTPBodyStream]() }
            return state.viewers.values.map(\.stream)
        }
        send(name, json, to: streams)
    }

    /// Something is not as it was for anybody.
    func touchAll() { for viewer in state.withLock({ Array($0.viewers.values) }) { touch(viewer.subject) } }

    /// Something about `subject` is not as it was.
    func touch(_ subject: String) {
        state.withLock { state in
            guard !state.viewers.isEmpty else { return }
            state.changed.insert(subject)
            guard state.pump == nil else { return }
            // Owned by this hub: it ends by itself, and `close()` cancels it.
            state.pump = Task {
                // Cancelled: the simulator stops, and the pages go with it.
                try? await Task.sleep(for: Self.pause)
                self.flush()
            }
        }
    }

    /// Keeps the connections open through whatever lies between.
    ///
    /// To be called every few seconds.
    func beat() {
        for viewer in state.withLock({ Array($0.viewers.values) }) {
            viewer.stream.write(Array(": still here\n\n".utf8))
        }
    }

    private func flush() {
        let (changed, viewers) = state.withLock { state in
            state.pump = nil
            defer { state.changed = [] }
            return (state.changed, Array(state.viewers.values))
        }
        for subject in changed {
            let streams = viewers.filter { $0.subject == subject }.map(\.stream)
            if !streams.isEmpty { send("state", render(subject), to: streams) }
        }
    }

    private func send(_ name: String, _ json: [UInt8], to streams: [HTTPBodyStream]) {
        let event = Array("event: \(name)\ndata: ".utf8) + json + Array("\n\n".utf8)
        for stream in streams { stream.write(event) }
    }

    func close() async {
        let (pump, viewers) = state.withLock { ($0.pump, Array($0.viewers.values)) }
        pump?.cancel()
        await pump?.value
        for viewer in viewers { viewer.stream.close() }
    }
}
