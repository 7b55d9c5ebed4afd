import Foundation
import Glibc
import Runtime

/// A PostgreSQL server of a test's own, with a fresh cluster and trusting authentication.
///
/// PostgreSQL refuses to run as root, so under root it runs as the user `postgres`.
package final class PrivatePostgreSQL: Sendable {
    package let port: UInt16
    private let folder: String
    private let process = Locked<LocalProcess?>(nil)

    /// Over TCP on the loopback address, as the superuser.
    package var url: String { "postgres://postgres@127.0.0.1:\(port)/postgres?sslmode=disable" }

    /// Over the Unix socket.
    package var socketURL: String { "postgres://postgres@/postgres?host=\(folder)&port=\(port)" }

    private init(folder: String, port: UInt16) {
        self.folder = folder
        self.port = port
    }

    /// Runs `body` with a running server, which is gone afterwards whatever happens.
    package static func with<R>(_ body: (PrivatePostgreSQL) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { folder in
            try await makeCluster(folder)
            let server = try await startOnFreePort {
                PrivatePostgreSQL(folder: folder, port: $0)
            } start: {
                try await $0.start()
            }
            let result: Result<R, any Error>
            do { result = .success(try await body(server)) } catch { result = .failure(error) }
            await server.end()
            return try result.get()
        }
    }

    /// Starts the server on the same port and data, and returns once it takes connections.
    package func start() async throws {
        let settings = ["fsync=off", "shared_buffers=16MB", "max_connections=60", "autovacuum=off"]
        let started = try Self.run(
            "postgres",
            ["-D", "\(folder)/data", "-k", folder, "-h", "127.0.0.1", "-p", "\(port)"]
                + settings.flatMap { ["-c", $0] },
            folder)
        try await eventually("PostgreSQL is ready, see \(folder)/log") { [folder] in
            guard started.isRunning else { return true }
            // The server writes its state into the eighth line.
            let lines = textOfFile("\(folder)/data/postmaster.pid")?.split(separator: "\n")
            return lines?.last?.hasPrefix("ready") ?? false
        }
        guard started.isRunning else { throw ServerNotStarted(log: textOfFile("\(folder)/log") ?? "") }
        process.withLock { $0 = started }
    }

    /// Stops the server in good order; clients are disconnected.
    package func stop() async throws {
        guard let running = process.withLock({ $0 }) else { return }
        running.signal(SIGINT)
        _ = try await running.waitForExit(within: .seconds(30))
        process.withLock { $0 = nil }
    }

    /// Sends a signal to the server's main process and to those that serve its clients: SIGSTOP hangs them all.
    package func signal(_ number: Int32) {
        guard let running = process.withLock({ $0 }) else { return }
        running.signal(number)
        for child in Self.children(of: running.pid) { _ = kill(child, number) }
    }

    private func end() async {
        guard let running = process.withLock({ $0 }) else { return }
        signal(SIGCONT)
        running.signal(SIGQUIT)
        // If it does not end by itself it is killed with the object.
        _ = try? await running.waitForExit(within: .seconds(30))
        process.withLock { $0 = nil }
    }

    private static func makeCluster(_ folder: String) async throws {
        if geteuid() == 0, let owner = getpwnam("postgres") {
            let (user, group) = (owner.pointee.pw_uid, owner.pointee.pw_gid)
            guard chown(folder, user, group) == 0 else {
                throw ServerNotStarted(log: "cannot give \(folder) to postgres")
            }
        }
        let status = try await run(
            "initdb",
            ["-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], folder
        ).waitForExit(within: .seconds(120))
        guard status == 0 else { throw ServerNotStarted(log: textOfFile("\(folder)/log") ?? "") }
    }

    private static func run(_ program: String, _ arguments: [String], _ folder: String) throws -> LocalProcess {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")
        guard let version = versions.max(by: { (Int($0) ?? 0) < (Int($1) ?? 0) }) else {
            throw ServerNotStarted(log: "PostgreSQL is not installed")
        }
        var command = ["/usr/lib/postgresql/\(version)/bin/\(program)"] + arguments
        if geteuid() == 0 {
            // Not through a shell or a session, so that the process is the server itself. The user's change undoes the
            // kernel's promise to end it with us, hence once more.
            command =
                [
                    "/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig", "KILL",
                    "--",
                ]
                + command
        }
        return try LocalProcess.start(
            command[0], Array(command.dropFirst()), environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
            workingDirectory: folder, logFile: "\(folder)/log")
    }

    private static func children(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap(Int32.init).filter { process in
            // A process that has ended meanwhile has no file, and is nobody's child.
            guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
            // After the name, which stands in parentheses: the state, then the parent.
            let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ")
            return fields.count > 2 && Int32(fields[2]) == parent
        }
    }
}
