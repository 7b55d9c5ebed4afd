import Shared

/// Look-ups under way: one at a time for each handle, a few at a time in all.
actor Flights {
    private struct Flight {
        let number: Int
        var hasBegun = false
        let task: Task<Result<RegistryRecord, RegistryUnavailable>, Never>
    }

    private let bulkhead: Bulkhead
    /// By the bytes of what is asked for: ids that Unicode calls equivalent are two.
    private var latest: [[UInt8]: Flight] = [:]
    private var count = 0

    init(atMost limit: Int) { bulkhead = Bulkhead(limit) }

    /// Returns what `lookUp` finds, together with all who ask for the same handle before it is called.
    ///
    /// Who asks while it is running waits for the next one: the running one may have been answered already, before
    /// something changed that this caller has been told of.
    func join(
        _ handle: String, _ lookUp: @escaping @Sendable () async -> Result<RegistryRecord, RegistryUnavailable>
    ) async throws(RegistryUnavailable) -> RegistryRecord {
        let key = Array(handle.utf8)
        if let waiting = latest[key], !waiting.hasBegun { return try await waiting.task.value.get() }
        let previous = latest[key]?.task
        count += 1
        let number = count
        // The flight outlives the caller that began it, if that is cancelled: others wait for it too. It ends by
        // itself, since `lookUp` has a deadline.
        let task = Task {
            _ = await previous?.value
            await bulkhead.enter()
            begin(key, number)
            let result = await lookUp()
            await bulkhead.leave()
            end(key, number)
            return result
        }
        latest[key] = Flight(number: number, task: task)
        return try await task.value.get()
    }

    private func begin(_ key: [UInt8], _ number: Int) {
        if latest[key]?.number == number { latest[key]?.hasBegun = true }
    }

    private func end(_ key: [UInt8], _ number: Int) {
        if latest[key]?.number == number { latest[key] = nil }
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
