import Foundation

/// What every service's settings are: read from the environment in one go.
package protocol ServiceSettings: Sendable {
    init(_ settings: inout Settings)

    var logLevel: Log.Level { get }

    /// Where `/healthz` is.
    var metricsListen: ListenAddress { get }
}

/// The frame of a service's `main`: `--help`, `--check`, `--health`, or settings → run → drain.
package enum ServiceMain {
    /// Runs the service named `name` and ends the process.
    ///
    /// - Parameters:
    ///   - check: Connects to everything that the settings name and returns what is wrong, all of it.
    ///   - run: Serves until the signal, then drains. What it throws is logged and the process ends with status 1.
    package static func start<Config: ServiceSettings>(
        _ name: String,
        about: String,
        settings: Config.Type,
        check: (Config, Log) async -> [String],
        run: (Config, Log, TerminationSignals) async throws -> Void
    ) async -> Never {
        let signals = TerminationSignals()
        let arguments = CommandLine.arguments.dropFirst()
        var reader = Settings(arguments.contains("--help") ? [:] : ProcessInfo.processInfo.environment)
        let config = Config(&reader)
        let clockFile = reader.clockFile()
        if arguments.contains("--help") {
            FileHandle.standardOutput.write(Data(help(name, about, reader.entries).utf8))
            exit(EXIT_SUCCESS)
        }
        if let unknown = arguments.first(where: { !["--check", "--health"].contains($0) }) {
            FileHandle.standardError.write(Data("\(name): unknown argument \(unknown); see \(name) --help\n".utf8))
            exit(2)
        }
        if arguments.contains("--health") { answerHealth(name, of: config) }
        let log = Log(service: name, level: config.logLevel)
        if arguments.contains("--check") {
            let findings = reader.problems.isEmpty ? await check(config, log) : reader.problems
            let lines =
                findings.isEmpty
                ? "\(name): everything is as it should be\n" : findings.map { "\(name): \($0)\n" }.joined()
            FileHandle.standardOutput.write(Data(lines.utf8))
            exit(findings.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE)
        }
        do {
            try reader.finish()
            if clockFile != nil { log.warning("CLOCK_FILE moves this service's clock: that is for tests alone") }
            try await run(config, log, signals)
            log.info("stopped")
            exit(EXIT_SUCCESS)
        } catch {
            log.error("cannot run", ["error": "\(error)"])
            exit(EXIT_FAILURE)
        }
    }

    /// Other settings do not matter here: the service that runs has read them.
    private static func answerHealth(_ name: String, of config: some ServiceSettings) -> Never {
        let finding = HealthProbe.finding(at: config.metricsListen)
        FileHandle.standardOutput.write(Data("\(name): \(finding ?? "alive")\n".utf8))
        exit(finding == nil ? EXIT_SUCCESS : EXIT_FAILURE)
    }

    private static func help(_ name: String, _ about: String, _ entries: [Settings.Entry]) -> String {
        let width = (entries.map(\.name.count).max() ?? 0) + 2
        var text =
            "\(name): \(about)\n\nSettings, from the environment; each NAME can be given as NAME_FILE, a path:\n\n"
        for entry in entries {
            let note = entry.fallback.map { "default: \($0)" } ?? "required"
            text += "  \(entry.name.padding(toLength: width, withPad: " ", startingAt: 0))\(entry.help) (\(note))\n"
        }
        return text + """

              --check   read the settings, connect to everything, say what is wrong
              --health  ask the one that runs with these settings whether it is alive
              --help    this text

            """
    }
}
