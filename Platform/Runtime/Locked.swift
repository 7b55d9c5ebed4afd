import Glibc

/// A value that is only reachable while its lock is held.
///
/// A pthread mutex, not `Synchronization.Mutex`: the thread sanitizer does not see the latter on Linux and reports
/// races where there are none.
@safe package final class Locked<Value>: @unchecked Sendable {
    // Sendable is right although unchecked: `value` is touched in `withLock` alone, between lock and unlock.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the lock held.
    ///
    /// `body` must neither wait nor call out to code that may take this lock.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
