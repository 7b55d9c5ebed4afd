import Foundation

/// Writes one JSON object a line to standard error: a constant sentence plus fields, and the id of the trace that the
/// running task works for.
///
/// `error`: a person must act. `warning`: degraded, we go on. `info`: start, ready, stop, connected. `debug`: the rest.
/// Success at full load is silent. Never log a token, a handle or the text of a message; a handle's keyed hash may be.
package struct Log: Sendable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    package let service: String
    package let level: Level
    private let clock: WallClock
    private let write: @Sendable (String) -> Void

    package init(
        service: String,
        level: Level = .info,
        clock: WallClock = .system,
        write: @escaping @Sendable (String) -> Void = Log.standardError
    ) {
        self.service = service
        self.level = level
        self.clock = clock
        self.write = write
    }

    package func debug(_ sentence: StaticString, _ fields: @autoclosure () -> [String: String] = [:]) {
        emit(.debug, sentence, fields)
    }

    package func info(_ sentence: StaticString, _ fields: @autoclosure () -> [String: String] = [:]) {
        emit(.info, sentence, fields)
    }

    package func warning(_ sentence: StaticString, _ fields: @autoclosure () -> [String: String] = [:]) {
        emit(.warning, sentence, fields)
    }

    package func error(_ sentence: StaticString, _ fields: @autoclosure () -> [String: String] = [:]) {
        emit(.error, sentence, fields)
    }

    private func emit(_ level: Level, _ sentence: StaticString, _ fields: () -> [String: String]) {
        guard level >= self.level else { return }
        var line = "{\"time\":\"\(clock.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))\""
        line += ",\"level\":\"\(level.rawValue)\",\"service\":\(Self.quoted(service))"
        line += ",\"message\":\(Self.quoted("\(sentence)"))"
        if let trace = Trace.current { line += ",\"trace_id\":\"\(trace.context.traceID)\"" }
        for (name, value) in fields().sorted(by: { $0.key < $1.key }) {
            line += ",\(Self.quoted(name)):\(Self.quoted(value))"
        }
        write(line + "}\n")
    }

    /// `text` as a JSON string.
    ///
    /// Control characters, line ends among them, are escaped: a value cannot forge a line.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x2028 || scalar.value == 0x2029:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    package static let standardError: @Sendable (String) -> Void = { line in
        FileHandle.standardError.write(Data(line.utf8))
    }
}
