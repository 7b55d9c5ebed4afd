import Foundation
import Shared

/// Islands, kinds and topology from the command line.
@main
struct IslandCtlMain {
    private static let usage = """
        islandctl topology [--partitions N] [--vhost NAME]   the broker's exchanges and queues, as RabbitMQ definitions
        islandctl --help                                      this text

        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("islandctl: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ arguments: [String]) throws {
        switch arguments.first {
        case "topology":
            let options = try Options(Array(arguments.dropFirst()))
            let topology = Topology(partitions: options.partitions)
            FileHandle.standardOutput.write(try topology.definitions(vhost: options.vhost))
        case nil, "--help", "help": FileHandle.standardOutput.write(Data(usage.utf8))
        case let other?: throw UsageError("unknown command \(other); see islandctl --help")
        }
    }

    private struct Options {
        var partitions = 16
        var vhost = "/"

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let name = rest.popFirst() {
                guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
                switch name {
                case "--partitions":
                    guard let count = Int(value), (1...256).contains(count) else {
                        throw UsageError("--partitions: expected a number from 1 to 256")
                    }
                    partitions = count
                case "--vhost": vhost = value
                default: throw UsageError("unknown option \(name)")
                }
            }
        }
    }

    private struct UsageError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
