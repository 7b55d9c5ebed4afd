import Foundation

/// What the benchmarks drive the services with, and what they hold them against.
///
/// Each command prints one JSON object of figures.
@main
struct LoadMain {
    static let commands:
        [(name: String, about: String, run: @Sendable ([String: String]) async throws -> any Encodable)] = [
            ("publish", "publishes messages of one size with confirms, and does nothing else", BarePublish.run),
            ("hops", "takes one message at a time through a queue", BareHops.run),
            (
                "webhooks", "posts signed webhooks of many users, as fast as they are taken or at a rate",
                WebhookLoad.run
            ),
            ("register", "registers users, each with a running card", RegisterUsers.run),
            ("fill", "puts islands or replies of many users into the queues of their stage", FillQueue.run),
            ("pushes", "sends pushes over the pusher's HTTP/2 client, and does nothing else", BarePushes.run),
            ("replies", "posts replies over the sender's HTTP/1.1 client, and does nothing else", BareReplies.run),
            ("codec", "encodes and checks a content state, beside a plain JSONEncoder", CodecLoad.run),
            ("json", "writes and reads what crosses the queues with every text", JSONLoad.run),
            ("lookups", "looks handles up, beside a bare GET", LookUpLoad.run),
        ]

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let name = arguments.first, let command = commands.first(where: { $0.name == name }) else {
            for command in commands { say("load \(command.name): \(command.about)") }
            exit(2)
        }
        do {
            let figures = try await command.run(try options(Array(arguments.dropFirst())))
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            print(String(decoding: try encoder.encode(figures), as: UTF8.self))
        } catch {
            say("load \(command.name): \(error)")
            exit(1)
        }
    }

    /// `--name value` pairs.
    private static func options(_ arguments: [String]) throws -> [String: String] {
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw Failure(description: "\(name): expected --name value")
            }
            options[String(name.dropFirst(2))] = value
        }
        return options
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

extension [String: String] {
    func text(_ name: String) throws -> String {
        guard let value = self[name] else { throw Failure(description: "--\(name) is missing") }
        return value
    }

    func number(_ name: String, default standard: Int? = nil) throws -> Int {
        if self[name] == nil, let standard { return standard }
        guard let value = Int(try text(name)) else { throw Failure(description: "--\(name): expected a number") }
        return value
    }
}

/// How fast something went.
struct Rate: Encodable {
    let count: Int
    let seconds: Double
    let rate: Double

    init(_ count: Int, in seconds: Double) {
        self.count = count
        self.seconds = seconds
        rate = Double(count) / seconds
    }
}
