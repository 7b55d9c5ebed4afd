import Shared

/// Look-ups under way: one at a time for each handle, a few at a time in all.
actor Flights {
    private struct Flight {
        let number: Int
        var hasBegun = false
        let task: Task<Result<RegistryRecord, RegistryUnavailable>, Never>
    }

    private let bulkhead: Bulkhead
    private var latest: [String: Flight] = [:]
    private var count = 0

    init(atMost limit: Int) { bulkhead = Bulkhead(limit) }

    /// Returns what `lookUp` finds, together with all who ask for the same handle before it is called.
    ///
    /// Who asks while it is running waits for the next one: the running one may have been answered already, before
    /// something changed that this caller has been told of.
    func join(
        _ handle: String, _ lookUp: @escaping @Sendable () async -> Result<RegistryRecord, RegistryUnavailable>
    ) async throws(RegistryUnavailable) -> RegistryRecord {
        if let waiting = latest[handle], !waiting.hasBegun { return try await waiting.task.value.get() }
        let previous = latest[handle]?.task
        count += 1
        let number = count
        // The flight outlives the caller that began it, if that is cancelled: others wait for it too. It ends by
        // itself, since `lookUp` has a deadline.
        let task = Task {
            _ = await previous?.value
            await bulkhead.enter()
            begin(handle, number)
            let result = await lookUp()
            await bulkhead.leave()
            end(handle, number)
            return result
        }
        latest[handle] = Flight(number: number, task: task)
        return try await task.value.get()
    }

    private func begin(_ handle: String, _ number: Int) {
        if latest[handle]?.number == number { latest[handle]?.hasBegun = true }
    }

    private func end(_ handle: String, _ number: Int) {
        if latest[handle]?.number == number { latest[handle] = nil }
    }
}

/// Lets a limited number in at a time, the others in the order of their coming.
actor Bulkhead {
    private var free: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ limit: Int) { free = limit }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    func leave() {
        if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
    }
}
