import Foundation
import Glibc
import Runtime

/// RabbitMQ servers of a test's own: free ports, a folder and an Erlang node name that nobody else has.
package enum PrivateRabbitMQ {
    /// Runs `body` with a server that is up, and takes it down afterwards whatever happens.
    ///
    /// - Parameters:
    ///   - definitions: RabbitMQ definitions (JSON). Users, virtual host and permissions are added if there are none.
    ///   - plugins: To be enabled, `rabbitmq_management` for instance.
    ///   - configuration: More lines for `rabbitmq.conf`.
    package static func with<R>(
        definitions: String? = nil, plugins: [String] = [], configuration: String = "",
        _ body: (RabbitMQServer) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let server = try RabbitMQServer(
                directory: directory, definitions: definitions, plugins: plugins, configuration: configuration)
            defer { server.shutDown() }
            try await server.start()
            return try await body(server)
        }
    }

    /// A server that all tests with the same arguments share; it ends with the test run.
    ///
    /// Tests that stop, kill or fill it take one of their own instead.
    ///
    /// - Parameter name: Tells servers apart that have the same arguments otherwise.
    package static func shared(
        _ name: String = "", definitions: String? = nil, plugins: [String] = []
    ) async throws -> RabbitMQServer {
        try await SharedServers.all.server(name, definitions, plugins)
    }
}

private actor SharedServers {
    static let all = SharedServers()

    private var starting: [String: Task<RabbitMQServer, any Error>] = [:]

    func server(_ name: String, _ definitions: String?, _ plugins: [String]) async throws -> RabbitMQServer {
        let key = "\(name) \(plugins) \(definitions ?? "")"
        // The task is awaited by everyone who asks; kept, so that nobody starts a second server.
        let task =
            starting[key]
            ?? Task {
                let directory = try Self.folder()
                let server = try RabbitMQServer(directory: directory, definitions: definitions, plugins: plugins)
                try await server.start()
                return server
            }
        starting[key] = task
        return try await task.value
    }

    private static let folders = Locked<[String]>([])

    private static let removeAtExit: Int32 = atexit {
        for folder in SharedServers.folders.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func folder() throws -> String {
        _ = removeAtExit
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        folders.withLock { $0.append(path) }
        return path
    }
}

/// A RabbitMQ server with everything private; the user `test` with the password `test` may do anything.
package final class RabbitMQServer: Sendable {
    private static let binaries = "/usr/lib/rabbitmq/bin"

    package let directory: String
    package let amqpPort: UInt16
    /// `nil` without the plugin `rabbitmq_management`.
    package let managementURL: String?
    private let environment: [String: String]
    private let epmd: LocalProcess
    private let running = Locked<LocalProcess?>(nil)

    package var amqpURL: String { "amqp://test:test@127.0.0.1:\(amqpPort)/" }

    /// Writes the configuration; `start()` starts the server.
    ///
    /// The folder must outlive this object.
    package init(
        directory: String, definitions: String? = nil, plugins: [String] = [], configuration: String = ""
    ) throws {
        self.directory = directory
        amqpPort = try freePort()
        let epmdPort = try freePort()
        let managementPort = plugins.contains("rabbitmq_management") ? try freePort() : nil
        managementURL = managementPort.map { "http://test:test@127.0.0.1:\($0)" }
        environment = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "HOME": directory,
            "RABBITMQ_NODENAME": "isthmus-\(amqpPort)@localhost",
            "RABBITMQ_MNESIA_BASE": directory + "/mnesia", "RABBITMQ_LOG_BASE": directory + "/log",
            "RABBITMQ_CONFIG_FILE": directory + "/rabbitmq",
            "RABBITMQ_ENABLED_PLUGINS_FILE": directory + "/enabled_plugins",
            "RABBITMQ_DIST_PORT": "\(try freePort())",
            // No spinning while idle: other tests want the processor.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",
            "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": "\(epmdPort)",
            // Makes the start script become the server instead of staying its parent, so that a signal reaches it.
            "RUNNING_UNDER_SYSTEMD": "true",
        ]
        var lines = [
            "listeners.tcp.default = 127.0.0.1:\(amqpPort)", "default_user = test", "default_pass = test",
            "disk_free_limit.absolute = 50MB", "raft.wal_max_size_bytes = 67108864", configuration,
        ]
        if let managementPort {
            lines += ["management.tcp.ip = 127.0.0.1", "management.tcp.port = \(managementPort)"]
        }
        if let definitions {
            let file = directory + "/definitions.json"
            try Self.withTestUser(definitions).write(to: URL(fileURLWithPath: file))
            lines.append("load_definitions = \(file)")
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8)
            .write(to: URL(fileURLWithPath: directory + "/rabbitmq.conf"))
        try Data("[\(plugins.joined(separator: ","))].\n".utf8)
            .write(to: URL(fileURLWithPath: directory + "/enabled_plugins"))
        // RabbitMQ would start a port mapper that outlives it; this one is ours to end.
        epmd = try LocalProcess.start(
            "/usr/bin/epmd", ["-port", "\(epmdPort)", "-address", "127.0.0.1"], environment: environment,
            logFile: directory + "/epmd.log")
    }

    /// Starts the server, on the same port and with what it kept on disk, and waits until it takes connections.
    package func start() async throws {
        let process = try LocalProcess.start(
            Self.binaries + "/rabbitmq-server", [], environment: environment, logFile: directory + "/server.log")
        running.withLock { $0 = process }
        do {
            try await eventually("RabbitMQ takes connections") {
                guard process.isRunning else { throw Failed(description: "RabbitMQ ended: \(tail("server.log"))") }
                return accepts(amqpPort)
            }
        } catch {
            throw Failed(description: "\(error)\n\(tail("server.log"))")
        }
    }

    /// Ends the server as a deployment does, and waits for its end.
    package func stop() async throws {
        guard let process = running.withLock({ $0 }) else { return }
        process.terminate()
        _ = try await process.waitForExit(within: .seconds(60))
        running.withLock { $0 = nil }
    }

    /// Ends the server at once (SIGKILL), and waits until its port is free.
    package func kill() async throws {
        guard let process = running.withLock({ $0 }) else { return }
        process.kill()
        _ = try await process.waitForExit(within: .seconds(30))
        running.withLock { $0 = nil }
    }

    /// Runs `rabbitmqctl` and returns what it printed; throws that if it failed.
    @discardableResult
    package func ctl(_ arguments: [String]) async throws -> String {
        let output = directory + "/ctl-\(UUID().uuidString).log"
        let process = try LocalProcess.start(
            Self.binaries + "/rabbitmqctl", arguments, environment: environment, logFile: output)
        let status = try await process.waitForExit(within: .seconds(60))
        let text = try String(contentsOfFile: output, encoding: .utf8)
        guard status == 0 else {
            throw Failed(description: "rabbitmqctl \(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }

    /// Ends everything at once.
    fileprivate func shutDown() {
        running.withLock { $0 }?.kill()
        epmd.kill()
    }

    private func tail(_ file: String) -> String {
        let text = (try? String(contentsOfFile: directory + "/" + file, encoding: .utf8)) ?? ""
        return String(text.suffix(2000))
    }

    private struct Failed: Error, CustomStringConvertible { let description: String }

    /// The definitions, with a user that may do anything in every virtual host.
    private static func withTestUser(_ definitions: String) throws -> Data {
        guard var all = try JSONSerialization.jsonObject(with: Data(definitions.utf8)) as? [String: Any] else {
            throw Failed(description: "the definitions are no JSON object")
        }
        let vhosts = all["vhosts"] as? [[String: Any]] ?? [["name": "/"]]
        all["vhosts"] = vhosts
        all["users"] =
            (all["users"] as? [[String: Any]] ?? []) + [["name": "test", "password": "test", "tags": "administrator"]]
        all["permissions"] =
            (all["permissions"] as? [[String: Any]] ?? [])
            + vhosts.map {
                ["user": "test", "vhost": $0["name"] ?? "/", "configure": ".*", "write": ".*", "read": ".*"]
            }
        return try JSONSerialization.data(withJSONObject: all)
    }
}

/// Whether somebody listens on the loopback port.
private func accepts(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
