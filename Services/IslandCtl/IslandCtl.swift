import Foundation
import Shared

/// The commands, apart from the process that they run in.
enum IslandCtl {
    struct Result: Equatable {
        /// 0: well; 1: the state that was checked would not be shown; 2: the command was not understood.
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
        islandctl --help                       this text

        --json makes the answer of every command JSON. KIND is CoachAttributes, or coach for short.
        check ends with status 1 if iOS would not show the state.

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

    private static func line(_ value: AnyJSON) -> String { String(decoding: value.bytes, as: UTF8.self) + "\n" }
}

struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A command, its words, and its options.
struct Arguments {
    let command: String?
    var words: [String] = []
    var options: [String: String] = [:]
    var isJSON = false

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        if rest.contains("--help") || rest.contains("-h") { rest = ["help"] }
        var words: [String] = []
        while let argument = rest.popFirst() {
            if argument == "--json" {
                isJSON = true
            } else if argument.hasPrefix("--") {
                guard let value = rest.popFirst() else { throw UsageError("\(argument) needs a value") }
                options[argument] = value
            } else {
                words.append(argument)
            }
        }
        command = words.first
        self.words = Array(words.dropFirst())
    }

    func require(words count: Int, options known: Set<String>) throws(UsageError) {
        if let other = options.keys.sorted().first(where: { !known.contains($0) }) {
            throw UsageError("unknown option \(other)")
        }
        guard words.count == count else { throw UsageError("\(command ?? ""): see islandctl --help") }
    }
}
