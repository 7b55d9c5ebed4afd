import AMQP
import Foundation
import Shared

/// What is said about the messages that a command has met.
struct ParkedReport: Sendable {
    struct Entry: Sendable {
        let message: ParkedMessage
        /// What became of it; `nil` if it was only looked at.
        var outcome: String?
        var hasFailed = false
    }

    let command: ParkedCommand
    let now: Int64
    var entries: [Entry] = []
    /// Messages that were not looked at.
    var unseen = 0

    var hasFailed: Bool { entries.contains(where: \.hasFailed) }

    var text: String { command.isJSON ? json : lines }

    private var lines: String {
        var lines = entries.map { entry in
            let message = entry.message
            var line = "\(message.queue.rawValue)  \(age(message))  \(message.id)  \(message.message.type)  "
            line += "\(masked(message.reason))  (\(message.service))"
            if let outcome = entry.outcome { line += "  -> \(outcome)" }
            return command.action == .show ? line + "\n" + details(message) : line
        }
        lines.append("\(entries.count) message\(entries.count == 1 ? "" : "s")")
        if unseen > 0 { lines.append("\(unseen) more were not looked at") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func details(_ message: ParkedMessage) -> String {
        let headers = message.message.headers.sorted { $0.key < $1.key }.map { "  \($0.key): \(masked($0.value))\n" }
        let body = text(body(message).bytes)
        return headers.joined() + "  body: " + body.replacing("\n", with: "\n  ") + "\n"
    }

    private func text(_ json: [UInt8]) -> String {
        let options: JSONSerialization.WritingOptions = [
            .prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed,
        ]
        // What cannot be laid out is shown as it is.
        guard let value = try? JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed),
            let pretty = try? JSONSerialization.data(withJSONObject: value, options: options)
        else { return String(decoding: json, as: UTF8.self) }
        return String(decoding: pretty, as: UTF8.self)
    }

    private func age(_ message: ParkedMessage) -> String {
        let seconds = max(0, now - message.publishedAt)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    private var json: String {
        let messages = entries.map { entry -> AnyJSON in
            let message = entry.message
            var fields: [String: AnyJSON] = [
                "stage": .string(message.queue.rawValue), "id": .string(message.id),
                "type": .string(message.message.type), "reason": .string(masked(message.reason)),
                "service": .string(message.service), "origin": message.origin.map(AnyJSON.string) ?? .null,
                "publishedAt": .integer(message.publishedAt), "ageSeconds": .integer(max(0, now - message.publishedAt)),
                "bytes": .integer(Int64(message.message.body.count)),
            ]
            if let outcome = entry.outcome {
                fields["outcome"] = .string(outcome)
                fields["failed"] = .bool(entry.hasFailed)
            }
            if command.action == .show {
                fields["headers"] = .object(message.message.headers.mapValues { .string(masked($0)) })
                fields["body"] = body(message)
            }
            return .object(fields)
        }
        let all = AnyJSON.object(["messages": .array(messages), "unseen": .integer(Int64(unseen))])
        return String(decoding: all.bytes, as: UTF8.self) + "\n"
    }

    /// The body as JSON, or as a text of what is none.
    private func body(_ message: ParkedMessage) -> AnyJSON {
        let bytes = message.message.body
        return masked(AnyJSON(parsing: bytes) ?? .string(String(decoding: bytes, as: UTF8.self)))
    }

    private func masked(_ value: AnyJSON) -> AnyJSON {
        switch value {
        case .string(let text): .string(masked(text))
        case .array(let elements): .array(elements.map(masked))
        case .object(let fields):
            .object(Dictionary(fields.map { (masked($0.key), masked($0.value)) }) { first, _ in first })
        default: value
        }
    }

    private func masked(_ text: String) -> String {
        command.withHandles ? text : HandleMask.masked(text)
    }
}

/// Hides phone numbers and mail addresses, wherever they stand in a text.
enum HandleMask {
    static func masked(_ text: String) -> String {
        text.replacing(/[A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+\.[A-Za-z]{2,}/, with: "(mail address)")
            .replacing(/\+[0-9][0-9 ()\-]{5,18}[0-9]/, with: "(phone number)")
    }
}
