import Foundation
import Shared

/// The commands, apart from the process that they run in.
enum IslandCtl {
    struct Result: Equatable {
        /// 0: well; 1: the answer is no; 2: the command was not understood; 3: there was no answer.
        var status: Int32 = 0
        var output = ""
        var errors = ""
    }

    static let usage = """
        islandctl kinds                        the kinds of Island there are
        islandctl schema KIND                  the JSON schema of a kind's content state
        islandctl example KIND                 a content state as it might be
        islandctl check KIND FILE              what iOS would do with the content state in FILE ("-": standard input)
                  [--previous FILE]            … and whether it looks any different from the one before
        islandctl topology [--partitions N] [--vhost NAME]
                                               the broker's exchanges and queues, as RabbitMQ definitions
        islandctl permissions [--vhost NAME]   what each service's user of the broker may do, likewise

        islandctl push KIND --event start|update|end --token HEX [--state FILE]
                                               one push to one token by hand; without a state, the kind's example
                  [--key FILE.p8] [--key-id ID] [--team ID] [--bundle ID] [--environment production|sandbox]
                  [--url URL] [--ca FILE]      … else as APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID, APNS_BUNDLE_ID,
                                               APNS_ENVIRONMENT, APNS_URL and APNS_CA_FILE have it
                  [--priority 5|10] [--stale-after 1h] [--title TEXT] [--body TEXT]
                  [--user ID] [--session ID]   of a start: what the card's attributes hold
                  [--dismiss-after 15m]        of an end: when the card leaves the Lock Screen
        islandctl linq list                    the account's webhook subscriptions
        islandctl linq subscribe URL --secret-file FILE
                                               subscribes URL, pinned to a version; the signing secret, which Linq shows
                                               once, goes into FILE, a new one that its owner alone may read
                  [--version 2026-02-03] [--events NAME,…] [--phone-numbers +1…,…]
        islandctl linq delete ID               ends a subscription
                                               (LINQ_API_TOKEN or LINQ_API_TOKEN_FILE; LINQ_API_URL or --url)
        islandctl doctor                       whether all that the services' settings in the environment name is there
                                               and lets us in: broker, Redis, database, Linq, Apple's key; changes nothing
        islandctl --help                       this text

        --json makes the answer of every command JSON. KIND is CoachAttributes, or coach for short.

        The status is 0 if all is well; 1 if the answer is no: iOS would not show the state, APNs or Linq refused, doctor
        found something; 2 if the command or a setting was not understood; 3 if the far side gave no answer.

        """

    /// Runs a command.
    ///
    /// - Parameter read: the bytes of a file by its path.
    static func run(_ arguments: [String], read: (String) throws -> Data) -> Result {
        do {
            return try run(Arguments(arguments), read)
        } catch {
            return Result(status: 2, errors: "islandctl: \(error)\n")
        }
    }

    /// Runs a command, also one that reaches out.
    static func run(
        _ words: [String], _ surroundings: Surroundings, read: @escaping (String) throws -> Data
    ) async -> Result {
        do {
            let arguments = try Arguments(words)
            switch arguments.command {
            case "push": return try await PushCommand(arguments, surroundings, read: read).run()
            case "linq": return try await LinqCommand(arguments, surroundings).run()
            case "doctor": return try await Doctor(arguments, surroundings).run()
            default: return try run(arguments, read)
            }
        } catch let error as Refused {
            return Result(status: 1, errors: "islandctl: \(error)\n")
        } catch let error as NoAnswer {
            return Result(status: 3, errors: "islandctl: \(error)\n")
        } catch {
            return Result(status: 2, errors: "islandctl: \(error)\n")
        }
    }

    private static func run(_ arguments: Arguments, _ read: (String) throws -> Data) throws -> Result {
        let json = arguments.isJSON
        switch arguments.command {
        case nil, "help": return Result(output: usage)
        case "kinds":
            try arguments.require(words: 0, options: [])
            return Result(output: try kinds(json: json))
        case "schema":
            try arguments.require(words: 1, options: [])
            return Result(output: try text(try kind(arguments.words[0]).schema(), json: json))
        case "example":
            try arguments.require(words: 1, options: [])
            return Result(output: try text(try kind(arguments.words[0]).example(), json: json))
        case "check":
            try arguments.require(words: 2, options: ["--previous"])
            return try check(arguments, read)
        case "topology":
            try arguments.require(words: 0, options: ["--partitions", "--vhost"])
            return Result(output: try topology(arguments))
        case "permissions":
            try arguments.require(words: 0, options: ["--vhost"])
            let permissions = try BrokerUser.permissions(vhost: arguments.options["--vhost"] ?? "/")
            return Result(output: String(decoding: permissions, as: UTF8.self))
        case "push", "linq", "doctor": throw UsageError("\(arguments.command ?? ""): cannot run without a network")
        case let other?: throw UsageError("unknown command \(other); see islandctl --help")
        }
    }

    /// A kind by its name or its short name, in any case.
    static func kind(_ name: String) throws -> IslandKind {
        let wanted = name.lowercased()
        let found = IslandKind.all.first {
            let full = $0.attributesType.lowercased()
            return full == wanted || full == wanted + "attributes"
        }
        guard let found else {
            let all = IslandKind.all.map(\.attributesType).joined(separator: ", ")
            throw UsageError("no kind is called \(name); there are \(all)")
        }
        return found
    }

    private static func kinds(json: Bool) throws -> String {
        if json {
            let list = try IslandKind.all.map { kind -> AnyJSON in
                .object([
                    "attributesType": .string(kind.attributesType),
                    "schema": AnyJSON(parsing: try kind.schema()) ?? .null,
                ])
            }
            return line(.array(list))
        }
        return IslandKind.all.map { kind in
            guard case .object(let fields) = kind.shape() else { return "\(kind.attributesType)\n" }
            let names = fields.map { $0.name + ($0.isOptional ? "?" : "") }.joined(separator: ", ")
            return "\(kind.attributesType): \(names)\n"
        }.joined()
    }

    private static func check(_ arguments: Arguments, _ read: (String) throws -> Data) throws -> Result {
        let kind = try kind(arguments.words[0])
        func bytes(_ path: String) throws -> [UInt8] {
            do { return Array(try read(path)) } catch { throw UsageError("cannot read \(path)") }
        }
        let state = try bytes(arguments.words[1])
        let previous = try arguments.options["--previous"].map(bytes)
        let report = StateReport(state, kind: kind, previous: previous)
        return Result(
            status: report.isShown ? 0 : 1, output: arguments.isJSON ? line(report.json) : report.text)
    }

    private static func topology(_ arguments: Arguments) throws -> String {
        var partitions = 16
        if let text = arguments.options["--partitions"] {
            guard let count = Int(text), (1...256).contains(count) else {
                throw UsageError("--partitions: expected a number from 1 to 256")
            }
            partitions = count
        }
        let vhost = arguments.options["--vhost"] ?? "/"
        let definitions = try Topology(partitions: partitions).definitions(vhost: vhost)
        return String(decoding: definitions, as: UTF8.self)
    }

    /// JSON for people on several lines, for programs on one.
    private static func text(_ json: [UInt8], json isCompact: Bool) throws -> String {
        if isCompact { return String(decoding: json, as: UTF8.self) + "\n" }
        let value = try JSONSerialization.jsonObject(with: Data(json))
        let pretty = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: pretty, as: UTF8.self) + "\n"
    }

    static func line(_ value: AnyJSON) -> String { String(decoding: value.bytes, as: UTF8.self) + "\n" }
}
