import Foundation
import Runtime

/// The way to whoever started the services and starts them again when they end: a pipe with one command a line.
///
/// Only a demonstration has one. What may be asked is little, since everybody on this machine can ask it.
final class Supervisor: Sendable {
    static let services = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]
    static let agents = ["coach", "order", "delivery", "balance", "checklist"]

    struct NotThere: Error {}

    private let pipe: String?
    private let chosen: Locked<String>

    init(pipe: String?, agent: String) {
        self.pipe = pipe
        chosen = Locked(agent)
    }

    var isThere: Bool { pipe != nil }
    /// Who answers texts.
    var agent: String { chosen.withLock { $0 } }

    /// Has a service killed, without a warning.
    func kill(_ service: String) throws { try send("kill \(service)") }

    /// Has the agent restarted as another one.
    func choose(agent: String) throws {
        try send("agent \(agent)")
        chosen.withLock { $0 = agent }
    }

    /// Never waits: without a reader the pipe cannot be opened.
    private func send(_ command: String) throws {
        guard let pipe else { throw NotThere() }
        let descriptor = open(pipe, O_WRONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw NotThere() }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { try file.write(contentsOf: Data((command + "\n").utf8)) } catch { throw NotThere() }
    }
}
