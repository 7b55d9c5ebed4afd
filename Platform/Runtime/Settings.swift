import Foundation

/// Every problem that a service's settings have, found in one reading.
package struct SettingsError: Error, CustomStringConvertible {
    package let problems: [String]

    package var description: String { problems.joined(separator: "; ") }
}

/// Reads a service's settings from its environment, and remembers what it was asked for: that is the `--help` table.
///
/// Each setting `NAME` can also be given as `NAME_FILE`, the path of a file that holds it (one trailing line end is
/// cut off), which is how secrets are best handed over. An empty value counts as not set.
package struct Settings {
    /// A line of the `--help` table.
    package struct Entry: Sendable {
        package let name: String
        package let help: String
        /// What holds when it is not set; `nil` if it must be set.
        package let fallback: String?
    }

    private let environment: [String: String]
    private let readFile: (String) throws -> String
    package private(set) var entries: [Entry] = []
    package private(set) var problems: [String] = []

    package init(
        _ environment: [String: String],
        readFile: @escaping (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) {
        self.environment = environment
        self.readFile = readFile
    }

    /// A setting that must be there.
    ///
    /// - Parameters:
    ///   - placeholder: Stands in while the other settings are read; `finish()` throws before anybody uses it.
    ///   - parse: Throws a `SettingsProblem` (or returns `nil`) for a value that it does not take.
    package mutating func required<Value>(
        _ name: String, _ help: String, placeholder: Value, _ parse: (String) throws -> Value?
    ) -> Value {
        entries.append(Entry(name: name, help: help, fallback: nil))
        guard let text = value(of: name) else {
            problems.append("\(name) is not set: \(help)")
            return placeholder
        }
        return parsed(name, help, text, parse) ?? placeholder
    }

    /// A setting with a default.
    package mutating func optional<Value>(
        _ name: String, _ help: String, default fallback: String, _ parse: (String) throws -> Value?
    ) -> Value {
        entries.append(Entry(name: name, help: help, fallback: fallback))
        guard let standard = try? parse(fallback) else {
            preconditionFailure("the default of \(name) does not pass its own check")
        }
        guard let text = value(of: name) else { return standard }
        return parsed(name, help, text, parse) ?? standard
    }

    /// A setting that may be absent.
    package mutating func absent<Value>(
        _ name: String, _ help: String, _ parse: (String) throws -> Value?
    ) -> Value? {
        entries.append(Entry(name: name, help: help, fallback: "none"))
        guard let text = value(of: name) else { return nil }
        return parsed(name, help, text, parse)
    }

    /// Says that the settings do not fit together.
    package mutating func reject(_ problem: String) { problems.append(problem) }

    /// Throws all problems at once, if there are any.
    package func finish() throws(SettingsError) {
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
    }

    private mutating func value(of name: String) -> String? {
        if let text = environment[name], !text.isEmpty { return text }
        guard let path = environment[name + "_FILE"], !path.isEmpty else { return nil }
        do {
            var text = try readFile(path)
            if text.hasSuffix("\n") { text.removeLast() }
            return text.isEmpty ? nil : text
        } catch {
            problems.append("\(name)_FILE: cannot read \(path)")
            return nil
        }
    }

    private mutating func parsed<Value>(
        _ name: String, _ help: String, _ text: String, _ parse: (String) throws -> Value?
    ) -> Value? {
        do {
            if let value = try parse(text) { return value }
            problems.append("\(name) has a value that is not taken; expected: \(help)")
        } catch {
            problems.append("\(name): \(error)")
        }
        return nil
    }
}

/// Why a value is not taken, in words that do not repeat the value: it may be a secret.
package struct SettingsProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension Duration {
    /// Reads "90s", "15m", "8h", "250ms" or "2d".
    package init?(_ text: String) {
        let number = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(number), count <= 1_000_000_000 else { return nil }
        switch text.dropFirst(number.count) {
        case "ms": self = .milliseconds(count)
        case "s": self = .seconds(count)
        case "m": self = .seconds(count * 60)
        case "h": self = .seconds(count * 3600)
        case "d": self = .seconds(count * 86400)
        default: return nil
        }
    }
}

/// Where to listen: an IP address and a port; port 0 takes a free one.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads "127.0.0.1:8080", "[::1]:8080" or "0.0.0.0:0".
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard !host.isEmpty else { return nil }
        self.init(host: host, port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
