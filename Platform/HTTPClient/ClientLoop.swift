import CCurl
import Glibc
import Runtime

/// The thread that owns libcurl's handles, and the way to it.
///
/// Sendable is right although unchecked: the multi handle is used by the thread that runs `run()`, except for
/// `curl_multi_wakeup`, which may be called from anywhere while the handle exists, which the lock ensures; the
/// other variables are used by that thread alone.
@safe final class ClientLoop: @unchecked Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(Transfer)
    }

    private struct State {
        var commands: [Command] = []
        var isClosing = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let multi: UnsafeMutableRawPointer?
    private let settings: TransferSettings
    private let log: Log
    private let state = Locked(State())
    private var active: [ObjectIdentifier: EasyHandle] = [:]
    private var idle: [EasyHandle] = []
    private var nextExpiry = 0.0

    init(_ settings: TransferSettings, maxConnectionsPerHost: Int, log: Log) {
        self.settings = settings
        self.log = log
        _ = globalState
        unsafe multi = curl_multi_init()
        if let multi = unsafe multi {
            unsafe isthmus_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, maxConnectionsPerHost)
            unsafe isthmus_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, maxConnectionsPerHost * 2)
        }
    }

    /// Hands a command to the thread; false if the client is closed.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isClosing, let multi = unsafe multi else { return false }
            state.commands.append(command)
            unsafe curl_multi_wakeup(multi)
            return true
        }
    }

    /// Lets the thread fail what is open, and end.
    func startClosing() {
        state.withLock { state in
            guard !state.isClosing, let multi = unsafe multi else { return }
            state.isClosing = true
            unsafe curl_multi_wakeup(multi)
        }
    }

    /// Waits for the thread's end.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// The thread: take commands, move the transfers on, hand out what is finished, wait.
    func run() {
        guard let multi = unsafe multi else { return end() }
        while true {
            let (commands, isClosing) = state.withLock { state in
                defer { state.commands = [] }
                return (state.commands, state.isClosing)
            }
            for command in commands {
                switch command {
                case .start(let transfer): unsafe start(transfer, on: multi)
                case .cancel(let transfer): unsafe cancel(transfer, on: multi)
                }
            }
            if isClosing { break }
            unsafe perform(multi)
        }
        for transfer in active.values.compactMap(\.transfer) { unsafe cancel(transfer, on: multi) }
        idle = []
        state.withLock { _ in _ = unsafe curl_multi_cleanup(multi) }
        end()
    }

    private func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func perform(_ multi: UnsafeMutableRawPointer) {
        var running: Int32 = 0
        var code = unsafe curl_multi_perform(multi, &running)
        unsafe collect(multi)
        unsafe expire(multi)
        if code == CURLM_OK {
            let limit = active.isEmpty ? Self.longestWait : Self.deadlineInterval
            code = unsafe curl_multi_poll(multi, nil, 0, limit, nil)
        }
        guard code != CURLM_OK else { return }
        log.error("libcurl cannot go on", ["words": unsafe String(cString: curl_multi_strerror(code))])
        usleep(UInt32(Self.deadlineInterval) * 1000)
    }

    private func start(_ transfer: Transfer, on multi: UnsafeMutableRawPointer) {
        guard !transfer.isCancelled else { return transfer.fail(.cancelled(.notSent)) }
        let remaining = transfer.deadline - monotonicSeconds()
        guard remaining > 0 else { return transfer.fail(.tooLate(.notSent)) }
        guard let handle = idle.popLast() ?? EasyHandle() else {
            return transfer.fail(.curl(CURLE_OUT_OF_MEMORY, .notSent))
        }
        var code = handle.prepare(transfer, settings, remaining: remaining)
        if code == CURLE_OK, unsafe curl_multi_add_handle(multi, handle.pointer) != CURLM_OK {
            code = CURLE_FAILED_INIT
        }
        guard code == CURLE_OK else {
            release(handle)
            return transfer.fail(.curl(code, .notSent))
        }
        active[ObjectIdentifier(transfer)] = handle
    }

    private func cancel(_ transfer: Transfer, on multi: UnsafeMutableRawPointer) {
        transfer.isCancelled = true
        guard let handle = active[ObjectIdentifier(transfer)] else { return }
        unsafe finish(handle, on: multi, .failure(.cancelled(handle.phase)))
    }

    /// Hands out what is finished.
    private func collect(_ multi: UnsafeMutableRawPointer) {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
                let context = unsafe isthmus_curl_private(easy)
            else { continue }
            let code = unsafe isthmus_curl_result(message)
            let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            guard let handle = active[ObjectIdentifier(transfer)] else { continue }
            if code == CURLE_OK {
                unsafe finish(handle, on: multi, .success(handle.status))
            } else if transfer.isTooLarge {
                unsafe finish(handle, on: multi, .failure(.tooLarge(handle.phase)))
            } else {
                unsafe finish(handle, on: multi, .failure(.curl(code, handle.phase)))
            }
        }
    }

    /// Ends what is too late: libcurl's own time limit does not cover the wait for a free connection.
    private func expire(_ multi: UnsafeMutableRawPointer) {
        let now = monotonicSeconds()
        guard now >= nextExpiry else { return }
        nextExpiry = now + Double(Self.deadlineInterval) / 1000
        for handle in active.values where handle.transfer.map({ $0.deadline + Self.grace < now }) ?? true {
            unsafe finish(handle, on: multi, .failure(.tooLate(handle.phase)))
        }
    }

    private func finish(
        _ handle: EasyHandle, on multi: UnsafeMutableRawPointer, _ outcome: Result<Int, HTTPClientError>
    ) {
        guard let transfer = handle.transfer else { return }
        active[ObjectIdentifier(transfer)] = nil
        unsafe curl_multi_remove_handle(multi, handle.pointer)
        release(handle)
        switch outcome {
        case .success(let status): transfer.succeed(status: status)
        case .failure(let error): transfer.fail(error)
        }
    }

    private func release(_ handle: EasyHandle) {
        handle.reset()
        if idle.count < Self.idleLimit { idle.append(handle) }
    }

    /// Easy handles that are kept for the next transfers.
    private static let idleLimit = 64
    /// How long the thread sleeps when nothing is open, in milliseconds; commands wake it.
    private static let longestWait: Int32 = 60_000
    /// How often it looks at deadlines otherwise.
    private static let deadlineInterval: Int32 = 100
    /// How long libcurl has for noticing a deadline first, in seconds: its words say what it was waiting for.
    private static let grace = 0.05
}

/// libcurl's own state, made once a process.
private let globalState = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
