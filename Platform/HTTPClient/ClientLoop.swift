import CCurl
import Glibc
import Runtime

/// The thread that owns libcurl's handles, and the way to it.
///
/// What it does for one request does not grow with how many are open.
///
/// Sendable is right although unchecked: what is not in `state` is used by the thread that runs `run()` alone.
@safe final class ClientLoop: @unchecked Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(Transfer)
    }

    private struct State {
        var commands: [Command] = []
        /// Whether the thread has to be woken for the next command: otherwise it looks before it waits.
        var isAsleep = false
        var isClosing = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let multi: UnsafeMutableRawPointer?
    private let settings: TransferSettings
    private let log: Log
    private let state = Locked(State())
    private let wakeup = Wakeup()
    private let sockets = Epoll()
    /// Taken from the state; kept for its memory.
    private var commands: [Command] = []
    private var active: [ObjectIdentifier: EasyHandle] = [:]
    private var idle: [EasyHandle] = []
    /// No open transfer's deadline is before this.
    private var firstDeadline = Double.infinity

    init(_ settings: TransferSettings, maxConnectionsPerHost: Int, log: Log) {
        self.settings = settings
        self.log = log
        _ = globalState
        unsafe multi = curl_multi_init()
        sockets.watch(wakeup.fileDescriptor, for: .readable)
        if let multi = unsafe multi {
            unsafe isthmus_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, maxConnectionsPerHost)
            unsafe isthmus_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, maxConnectionsPerHost * 2)
            unsafe isthmus_curl_multi_set_sockets(multi, onSocket, Unmanaged.passUnretained(sockets).toOpaque())
        }
    }

    /// Hands a command to the thread; false if the client is closed.
    func post(_ command: Command) -> Bool {
        guard unsafe multi != nil else { return false }
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isClosing else { return (false, false) }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        if wakes { wakeup.signal() }
        return isTaken
    }

    /// Lets the thread fail what is open, and end.
    func startClosing() {
        state.withLock { $0.isClosing = true }
        wakeup.signal()
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

    /// The thread: take commands, wait, move the transfers on, hand out what is finished.
    func run() {
        guard let multi = unsafe multi else { return end() }
        while true {
            let isClosing = takeCommands()
            for command in commands {
                switch command {
                case .start(let transfer): unsafe start(transfer, on: multi)
                case .cancel(let transfer): unsafe cancel(transfer, on: multi)
                }
            }
            if isClosing { break }
            unsafe perform(multi)
            unsafe collect(multi)
            unsafe expire(multi)
        }
        for transfer in active.values.compactMap(\.transfer) { unsafe cancel(transfer, on: multi) }
        idle = []
        unsafe curl_multi_cleanup(multi)
        end()
    }

    /// Takes what was posted; true if the client closes.
    private func takeCommands() -> Bool {
        commands.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.commands, &commands)
            state.isAsleep = commands.isEmpty
            return state.isClosing
        }
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
        var code = CURLM_OK
        var running: Int32 = 0
        sockets.wait(milliseconds: commands.isEmpty ? unsafe timeLeft(multi) : 0) { descriptor, events in
            if descriptor == wakeup.fileDescriptor { return wakeup.drain() }
            let ready =
                (events.contains(.readable) ? CURL_CSELECT_IN : 0)
                | (events.contains(.writable) ? CURL_CSELECT_OUT : 0)
            let result = unsafe curl_multi_socket_action(multi, descriptor, ready, &running)
            if result != CURLM_OK { code = result }
        }
        // What has just been started is due, too.
        if unsafe curlTimeLeft(multi) == 0 {
            let result = unsafe curl_multi_socket_action(multi, isthmus_curl_socket_timeout, 0, &running)
            if result != CURLM_OK { code = result }
        }
        guard code != CURLM_OK else { return }
        log.error("libcurl cannot go on", ["words": unsafe String(cString: curl_multi_strerror(code))])
        usleep(Self.pause)
    }

    /// Milliseconds until there is something to do without a command or a socket; below zero for never.
    private func timeLeft(_ multi: UnsafeMutableRawPointer) -> Int32 {
        let curls = unsafe curlTimeLeft(multi)
        guard firstDeadline < .infinity else { return curls }
        let ours = (firstDeadline - monotonicSeconds()) * 1000
        let rounded = Int32(min(max(ours, 0), Self.longestWait).rounded(.up))
        return curls < 0 ? rounded : min(curls, rounded)
    }

    /// The same for libcurl alone.
    ///
    /// Asked and not waited for in a callback: that is not called again for a time that was given before, which a timer
    /// that goes off a moment too early would miss.
    private func curlTimeLeft(_ multi: UnsafeMutableRawPointer) -> Int32 {
        var milliseconds = -1
        unsafe curl_multi_timeout(multi, &milliseconds)
        return Int32(clamping: milliseconds)
    }

    private func start(_ transfer: Transfer, on multi: UnsafeMutableRawPointer) {
        guard !transfer.isCancelled else { return transfer.fail(.cancelled(.notSent)) }
        guard monotonicSeconds() < transfer.deadline else { return transfer.fail(.tooLate(.notSent)) }
        guard let handle = idle.popLast() ?? EasyHandle(settings) else {
            return transfer.fail(.curl(CURLE_OUT_OF_MEMORY, .notSent))
        }
        var code = handle.prepare(transfer)
        if code == CURLE_OK, unsafe curl_multi_add_handle(multi, handle.pointer) != CURLM_OK {
            code = CURLE_FAILED_INIT
        }
        guard code == CURLE_OK else {
            release(handle)
            return transfer.fail(.curl(code, .notSent))
        }
        active[ObjectIdentifier(transfer)] = handle
        firstDeadline = min(firstDeadline, transfer.deadline)
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
            let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
            unsafe finish(handle, on: multi, handle.outcome(code))
        }
    }

    /// Ends what is too late: libcurl's own time limit does not cover the wait for a free connection.
    private func expire(_ multi: UnsafeMutableRawPointer) {
        let now = monotonicSeconds()
        guard now >= firstDeadline else { return }
        firstDeadline = .infinity
        for handle in active.values {
            guard let transfer = handle.transfer else { continue }
            if transfer.deadline <= now {
                unsafe finish(handle, on: multi, .failure(.tooLate(handle.phase)))
            } else {
                firstDeadline = min(firstDeadline, transfer.deadline)
            }
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
    /// How long the thread sleeps at most for a deadline to come, in milliseconds.
    private static let longestWait = 86_400_000.0
    /// How long it rests when libcurl does not go on, in microseconds.
    private static let pause: UInt32 = 100_000
}

/// Waits for what libcurl says it needs of a socket.
private func onSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ own: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let sockets = unsafe Unmanaged<Epoll>.fromOpaque(context).takeUnretainedValue()
    switch what {
    case CURL_POLL_IN: sockets.watch(socket, for: .readable)
    case CURL_POLL_OUT: sockets.watch(socket, for: .writable)
    case CURL_POLL_INOUT: sockets.watch(socket, for: [.readable, .writable])
    default: sockets.forget(socket)
    }
    return 0
}

/// libcurl's own state, made once a process.
private let globalState = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
