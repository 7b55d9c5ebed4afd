import Runtime

/// A Redis server of a test's own that keeps nothing on the disk.
package final class PrivateRedis: Sendable {
    package let port: UInt16
    private let folder: String
    private let arguments: [String]
    private let process = Locked<LocalProcess?>(nil)

    package var url: String { "redis://127.0.0.1:\(port)" }

    private init(folder: String, port: UInt16, arguments: [String]) {
        self.folder = folder
        self.port = port
        self.arguments = arguments
    }

    /// Runs `body` with a running server, which is gone afterwards whatever happens.
    ///
    /// - Parameters:
    ///   - tls: PEM files of a certificate and its key; the port then speaks TLS and nothing else.
    ///   - arguments: More of redis-server's options, such as `--requirepass`.
    package static func with<R>(
        tls: (certificateFile: String, keyFile: String)? = nil, arguments: [String] = [],
        _ body: (PrivateRedis) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { folder in
            let server = try await startOnFreePort { port in
                var options = ["--port", tls == nil ? "\(port)" : "0"]
                if let tls {
                    options += ["--tls-port", "\(port)", "--tls-cert-file", tls.certificateFile]
                    options += ["--tls-key-file", tls.keyFile, "--tls-auth-clients", "no"]
                }
                return PrivateRedis(folder: folder, port: port, arguments: options + arguments)
            } start: {
                try await $0.start()
            }
            let result: Result<R, any Error>
            do { result = .success(try await body(server)) } catch { result = .failure(error) }
            server.kill()
            return try result.get()
        }
    }

    /// Starts the server, empty, on the same port, and returns once it takes connections.
    package func start() async throws {
        let starts = readyLines
        let fixed = [
            "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no", "--loglevel", "notice",
        ]
        let started = try LocalProcess.start(
            "redis-server", fixed + arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
            logFile: "\(folder)/log")
        try await eventually("Redis takes connections on port \(port)") {
            !started.isRunning || readyLines > starts
        }
        guard started.isRunning else {
            throw ServerNotStarted(log: log)
        }
        process.withLock { $0 = started }
    }

    /// How often the server has said that it is ready.
    ///
    /// Asking the port would not do: somebody else may have it.
    private var readyLines: Int { log.split(separator: "\n").count { $0.contains("Ready to accept connections") } }

    /// What the server has said so far; nothing before its first start.
    private var log: String { textOfFile("\(folder)/log") ?? "" }

    /// Stops the server in good order.
    package func stop() async throws {
        guard let running = process.withLock({ $0 }) else { return }
        running.terminate()
        _ = try await running.waitForExit(within: .seconds(30))
        process.withLock { $0 = nil }
    }

    /// Ends the server at once.
    package func kill() { process.withLock { $0 = nil } }

    /// Sends a signal to the server: SIGSTOP hangs it, SIGCONT lets it go on.
    package func signal(_ number: Int32) { process.withLock { $0 }?.signal(number) }
}
