import Foundation
import Runtime

/// What a command that reaches out has around it: the environment, files, and the time.
struct Surroundings: Sendable {
    let environment: [String: String]
    let clock: WallClock
    let log: Log

    /// Services' logs would drown the answer: only what goes wrong inside them is said, on standard error.
    static var process: Surroundings {
        Surroundings(
            environment: ProcessInfo.processInfo.environment, clock: .system,
            log: Log(service: "islandctl", level: .error))
    }

    /// A setting of the services, from `NAME` or the file that `NAME_FILE` names; `nil` if it is not set.
    func setting(_ name: String) throws(UsageError) -> String? {
        if let text = environment[name], !text.isEmpty { return text }
        guard let path = environment[name + "_FILE"], !path.isEmpty else { return nil }
        return try Self.text(ofFile: path, for: name + "_FILE")
    }

    /// An option, or else the setting of that name.
    func value(_ option: String, _ arguments: Arguments, or name: String) throws(UsageError) -> String? {
        if let value = arguments.options[option] { return value }
        return try setting(name)
    }

    func required(_ option: String, _ arguments: Arguments, or name: String) throws(UsageError) -> String {
        guard let value = try value(option, arguments, or: name) else {
            throw UsageError("\(option) is needed, or \(name) in the environment")
        }
        return value
    }

    static func text(ofFile path: String, for name: String) throws(UsageError) -> String {
        do {
            var text = try String(contentsOfFile: path, encoding: .utf8)
            if text.hasSuffix("\n") { text.removeLast() }
            return text
        } catch { throw UsageError("\(name): cannot read \(path)") }
    }
}

/// A file that a secret goes into: made before the secret is, because it is shown once.
struct SecretFile {
    let path: String
    private let handle: FileHandle

    /// Makes the file, readable by its owner alone; one that is there is left as it is.
    init(new path: String) throws(UsageError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw UsageError(
                errno == EEXIST
                    ? "\(path) is there already: name another file, or move it away" : "cannot write \(path)")
        }
        self.path = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ secret: String) throws(UsageError) {
        do {
            try handle.write(contentsOf: Data((secret + "\n").utf8))
            try handle.synchronize()
        } catch { throw UsageError("cannot write \(path)") }
    }

    /// There is no secret after all.
    func remove() {
        // An empty file that is left does no harm, and the command has failed already.
        try? FileManager.default.removeItem(atPath: path)
    }
}
