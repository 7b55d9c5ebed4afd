import Foundation
import Runtime
import Shared

/// What was typed, understood.
struct ParkedCommand: Sendable, Equatable {
    enum Action: String, CaseIterable, Sendable { case list, show, replay, drop }

    let action: Action
    var selection = Selection()
    var isJSON = false
    var isDryRun = false
    var withHandles = false

    static let usage = """
        isthmus-parked list                    the messages that could not be worked, oldest first
        isthmus-parked show                    … with their whole contents
        isthmus-parked replay                  puts them back where they came from, and takes them from the parked ones
        isthmus-parked drop                    throws them away
        isthmus-parked --help                  this text

        Which of them:
          --stage NAME       inbound, replies, islands or registry
          --id ID            with this message id; may be given several times
          --reason TEXT      whose reason has this text in it, in any case
          --older-than 1h    published longer ago than that: 90s, 15m, 8h, 2d
          --newer-than 1h    published less long ago than that
          --limit N          the first N of them
          --all              everything; show, replay and drop want this or one of the above

        How:
          --dry-run          says what replay or drop would do
          --with-handles     shows phone numbers and mail addresses, which are masked otherwise
          --json             an answer for programs

        To look changes nothing. Whatever is cut off in the middle can be repeated: a message that was put back twice
        counts once. From the environment: AMQP_URL and AMQP_CA_FILE, as for the services, or AMQP_URL_FILE.
        Status 0: done; 1: not all of it; 2: the command was not understood.

        """

    /// Reads the arguments.
    ///
    /// Returns `nil` when only the usage is asked for.
    static func parse(_ arguments: [String]) throws(UsageError) -> ParkedCommand? {
        guard let word = arguments.first, !arguments.contains("--help"), !arguments.contains("-h"), word != "help"
        else { return nil }
        guard let action = Action(rawValue: word) else {
            throw UsageError("unknown command \(word); see isthmus-parked --help")
        }
        var command = ParkedCommand(action: action)
        var isChosen = false
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": command.isJSON = true
            case "--dry-run": command.isDryRun = true
            case "--with-handles": command.withHandles = true
            case "--all": isChosen = true
            default:
                try command.selection.read(argument) { () throws(UsageError) -> String in
                    guard let value = rest.popFirst() else { throw UsageError("\(argument) needs a value") }
                    return value
                }
                isChosen = true
            }
        }
        guard isChosen || action == .list else {
            throw UsageError("\(action.rawValue) which of them? See isthmus-parked --help, or say --all")
        }
        return command
    }
}

struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Which messages are meant.
struct Selection: Sendable, Equatable {
    var queue: ParkedQueue?
    var ids: Set<String> = []
    var reason: String?
    var olderThan: Duration?
    var newerThan: Duration?
    var limit = Int.max

    mutating func read(_ option: String, value: () throws(UsageError) -> String) throws(UsageError) {
        switch option {
        case "--stage":
            let name = try value()
            guard let queue = ParkedQueue(rawValue: name) else {
                let all = ParkedQueue.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--stage: no stage is called \(name); there are \(all)")
            }
            self.queue = queue
        case "--id": ids.insert(try value())
        case "--reason": reason = try value()
        case "--older-than": olderThan = try Self.duration(option, try value())
        case "--newer-than": newerThan = try Self.duration(option, try value())
        case "--limit":
            guard let limit = Int(try value()), limit > 0 else {
                throw UsageError("--limit: expected a number from 1")
            }
            self.limit = limit
        default: throw UsageError("unknown option \(option); see isthmus-parked --help")
        }
    }

    private static func duration(_ option: String, _ text: String) throws(UsageError) -> Duration {
        guard let duration = Duration(text) else { throw UsageError("\(option): expected 90s, 15m, 8h or 2d") }
        return duration
    }

    func includes(_ message: ParkedMessage, at now: Int64) -> Bool {
        let age = Double(now - message.publishedAt)
        if !ids.isEmpty, !ids.contains(message.id) { return false }
        if let reason, !message.reason.lowercased().contains(reason.lowercased()) { return false }
        if let olderThan, age <= olderThan.seconds { return false }
        if let newerThan, age >= newerThan.seconds { return false }
        return true
    }
}
