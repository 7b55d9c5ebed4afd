import Foundation
import Runtime

@main
struct SimulatorMain {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "prepare" { prepare(Array(arguments.dropFirst())) }
        await ServiceMain.start(
            "simulator",
            about: "stands in for Linq, for APNs and for iPhones; `simulator prepare DIRECTORY` makes keys",
            settings: SimulatorConfig.self, check: check, run: run)
    }

    private static func check(_ config: SimulatorConfig, _ log: Log) -> [String] {
        let names = ["server.pem", "server-key.pem", "sign-in-key.pem", "apns-key.p8"]
        return names.filter { !FileManager.default.isReadableFile(atPath: "\(config.directory)/\($0)") }.map {
            "\(config.directory)/\($0) cannot be read; run `simulator prepare \(config.directory)`"
        }
    }

    private static func run(_ config: SimulatorConfig, _ log: Log, _ signals: TerminationSignals) async throws {
        let server = try SimulatorServer(config, log: log, metrics: Metrics())
        log.info("ready", ["port": "\(server.port)", "apnsPort": "\(server.apnsPort)"])
        await signals.next()
        await server.close()
    }

    private static func prepare(_ arguments: [String]) -> Never {
        guard arguments.count == 1 else {
            FileHandle.standardError.write(Data("usage: simulator prepare DIRECTORY\n".utf8))
            exit(2)
        }
        do {
            try PreparedFiles.write(to: arguments[0])
            exit(EXIT_SUCCESS)
        } catch {
            FileHandle.standardError.write(Data("simulator: \(error)\n".utf8))
            exit(EXIT_FAILURE)
        }
    }
}
