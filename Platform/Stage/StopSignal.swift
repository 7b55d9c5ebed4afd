import Runtime

/// Says once that no more work should begin; who waits between two tries wakes up.
package final class StopSignal: Sendable {
    private struct State {
        var isFired = false
        var nextID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    package init() {}

    package var isFired: Bool { state.withLock { $0.isFired } }

    /// Fires the signal; later calls change nothing.
    package func fire() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isFired = true
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for `duration` or the signal.
    ///
    /// Returns whether the whole time has passed.
    package func sleep(for duration: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do { try await Task.sleep(for: duration) } catch { return false }
                return true
            }
            group.addTask {
                await self.wait()
                return false
            }
            let passed = await group.next() ?? false
            group.cancelAll()
            return passed
        }
    }

    /// Waits for the signal, or for the task to be cancelled.
    private func wait() async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A cancellation that came first has left nothing to wake us: look before waiting.
                    guard !state.isFired, !Task.isCancelled else { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
