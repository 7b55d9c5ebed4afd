@unsafe @preconcurrency import Dispatch
import Foundation
import Glibc
import Runtime

/// A program that a test runs beside itself: a server, or one of the services.
///
/// It cannot outlive the test run: it is killed when this object goes, when the test process exits, and by the kernel
/// when the test process is killed. It leads a process group of its own, which takes its own children along.
package final class LocalProcess: Sendable {
    /// The program did not start, and why.
    package struct StartError: Error, CustomStringConvertible {
        package let description: String
    }

    package let pid: Int32
    /// Where standard output and standard error go.
    package let logFile: String
    private let status = Locked<Int32?>(nil)

    private init(pid: Int32, logFile: String) {
        self.pid = pid
        self.logFile = logFile
    }

    deinit {
        kill()
        reap(waiting: true)
    }

    /// Starts a program with exactly this environment and an empty standard input.
    ///
    /// - Parameter executable: A path, or a name to be looked up in the `PATH` of `environment`.
    package static func start(
        _ executable: String, _ arguments: [String], environment: [String: String],
        workingDirectory: String? = nil, logFile: String
    ) throws -> LocalProcess {
        if executable.contains("/"), workingDirectory == nil, access(executable, X_OK) != 0 {
            throw StartError(description: "\(executable) is not there or cannot be run")
        }
        // The kernel's signal comes when the thread that started the child ends, hence a thread that never does.
        var command = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
        if let workingDirectory { command += ["/usr/bin/env", "-C", workingDirectory] }
        command += [executable] + arguments
        let pid = try SpawnThread.shared.run { [command] in
            Result { try spawn(command, environment, logFile) }
        }.get()
        _ = Self.killAllAtExit
        Self.running.withLock { _ = $0.insert(pid) }
        return LocalProcess(pid: pid, logFile: logFile)
    }

    /// Asks the program to end (SIGTERM).
    package func terminate() { signal(SIGTERM) }

    /// Ends the program and its children at once (SIGKILL).
    package func kill() { send(SIGKILL, to: -pid) }

    /// Sends a signal to the program, not to its children.
    package func signal(_ number: Int32) { send(number, to: pid) }

    package var isRunning: Bool { reap() == nil }

    /// The exit status, once the program has ended; 128 + n if signal n ended it.
    package func waitForExit(within limit: Duration) async throws -> Int32 {
        try await eventually(within: limit, "process \(pid) ends") { !isRunning }
        guard let status = reap() else { throw StartError(description: "process \(pid) has no exit status") }
        return status
    }

    /// Under the lock, because once a child was waited for its number may belong to somebody else.
    private func send(_ number: Int32, to target: Int32) {
        status.withLock { status in
            if status == nil { _ = Glibc.kill(target, number) }
        }
    }

    @discardableResult
    private func reap(waiting: Bool = false) -> Int32? {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            let found = waitpid(pid, &raw, waiting ? 0 : WNOHANG)
            guard found == pid || (found < 0 && errno == ECHILD) else { return nil }
            Self.running.withLock { _ = $0.remove(pid) }
            let signal = raw & 0x7F
            status = signal == 0 ? raw >> 8 & 0xFF : 128 + signal
            return status
        }
    }

    private static let running = Locked<Set<Int32>>([])

    private static let killAllAtExit: Int32 = atexit {
        for pid in LocalProcess.running.withLock({ $0 }) { _ = Glibc.kill(-pid, SIGKILL) }
    }
}

/// `posix_spawn` with no blocked and no ignored signals: a child of `Foundation.Process` would not hear SIGTERM.
private func spawn(_ command: [String], _ environment: [String: String], _ logFile: String) throws -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)

    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    var pid: Int32 = 0
    let code = posix_spawn(&pid, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else {
        throw LocalProcess.StartError(
            description: "\(command.joined(separator: " ")): \(String(cString: strerror(code)))")
    }
    return pid
}

/// A thread that lives as long as the process and runs what it is given, one at a time.
private final class SpawnThread: Sendable {
    static let shared = SpawnThread()

    private let jobs = Locked<[@Sendable () -> Void]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init() {
        let thread = Thread { [jobs, waiting] in
            while true {
                waiting.wait()
                jobs.withLock { $0.removeFirst() }()
            }
        }
        thread.start()
    }

    func run<Value: Sendable>(_ job: @escaping @Sendable () -> Value) -> Value {
        let result = Locked<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        jobs.withLock {
            $0.append {
                let value = job()
                result.withLock { $0 = value }
                done.signal()
            }
        }
        waiting.signal()
        while true {
            done.wait()
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}
