import Runtime

/// Works items one after another for each key, and the keys side by side.
///
/// How many run at once is bounded by who adds: a consumer's prefetch.
final class Lanes<Item: Sendable>: Sendable {
    private struct State {
        /// The items that wait, by key; a key is here as long as one of its items is in hand.
        var waiting: [String: [Item]] = [:]
        var isStopped = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let isSuperseded: @Sendable (Item, [Item]) -> Bool
    private let skip: @Sendable (Item) -> Void
    private let work: @Sendable (Item) async -> Void

    /// - Parameters:
    ///   - isSuperseded: Whether an item need not be worked, given those that wait behind it.
    ///   - skip: Gets such an item instead of `work`.
    init(
        isSuperseded: @escaping @Sendable (Item, [Item]) -> Bool,
        skip: @escaping @Sendable (Item) -> Void,
        work: @escaping @Sendable (Item) async -> Void
    ) {
        self.isSuperseded = isSuperseded
        self.skip = skip
        self.work = work
    }

    /// Appends `item` to the lane of `key`.
    ///
    /// Returns false after `stop()`: the item is left alone.
    @discardableResult func add(_ item: Item, key: String) -> Bool {
        let (isTaken, startsLane) = state.withLock { state in
            guard !state.isStopped else { return (false, false) }
            guard state.waiting[key] == nil else {
                state.waiting[key]?.append(item)
                return (true, false)
            }
            state.waiting[key] = []
            return (true, true)
        }
        // The lane's task is owned by `state.waiting[key]`: `drain()` waits until the last one has taken its key away.
        if startsLane { Task { await self.run(key, first: item) } }
        return isTaken
    }

    private func run(_ key: String, first: Item) async {
        var item = first
        while true {
            await work(item)
            var superseded: [Item] = []
            let next: Item? = state.withLock { state in
                var waiting = state.waiting[key] ?? []
                while waiting.count > 1, isSuperseded(waiting[0], Array(waiting.dropFirst())) {
                    superseded.append(waiting.removeFirst())
                }
                guard !waiting.isEmpty else {
                    state.waiting[key] = nil
                    return nil
                }
                let next = waiting.removeFirst()
                state.waiting[key] = waiting
                return next
            }
            superseded.forEach(skip)
            guard let next else { break }
            item = next
        }
        let idle = state.withLock { state in
            guard state.waiting.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in idle { waiter.resume() }
    }

    /// The items that wait in the lane of `key` behind the one in hand.
    func waiting(behind key: String) -> [Item] { state.withLock { $0.waiting[key] ?? [] } }

    /// Takes nothing more, and gives out what waits; what is in hand goes on.
    @discardableResult func stop() -> [Item] {
        state.withLock { state in
            state.isStopped = true
            return Self.takeWaiting(&state)
        }
    }

    /// Gives out what waits; what is in hand goes on, and what is added later waits for it.
    func takeWaiting() -> [Item] { state.withLock { Self.takeWaiting(&$0) } }

    private static func takeWaiting(_ state: inout State) -> [Item] {
        let items = state.waiting.values.flatMap(\.self)
        state.waiting = state.waiting.mapValues { _ in [] }
        return items
    }

    /// Waits until nothing is in hand.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard !state.waiting.isEmpty else { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
