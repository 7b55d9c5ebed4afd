import AMQP
import Foundation
import Runtime

/// Lists, shows, replays and drops parked messages.
@main
struct ParkedMain {
    static func main() async {
        let command: ParkedCommand
        do {
            guard let parsed = try ParkedCommand.parse(Array(CommandLine.arguments.dropFirst())) else {
                FileHandle.standardOutput.write(Data(ParkedCommand.usage.utf8))
                exit(EXIT_SUCCESS)
            }
            command = parsed
        } catch { end(2, "\(error)") }
        var settings = Settings(ProcessInfo.processInfo.environment)
        let endpoint = settings.broker()
        guard let endpoint, settings.problems.isEmpty else { end(2, settings.problems.joined(separator: "; ")) }
        let queues = ParkedQueues(endpoint, log: Log(service: "isthmus-parked", level: .error))
        do {
            try await queues.start()
            let report = try await ParkedWork(queues: queues, command: command, now: WallClock.system.seconds).run()
            await queues.close()
            FileHandle.standardOutput.write(Data(report.text.utf8))
            exit(report.hasFailed ? EXIT_FAILURE : EXIT_SUCCESS)
        } catch {
            await queues.close()
            end(EXIT_FAILURE, "\(error)")
        }
    }

    private static func end(_ status: Int32, _ words: String) -> Never {
        FileHandle.standardError.write(Data("isthmus-parked: \(words)\n".utf8))
        exit(status)
    }
}
