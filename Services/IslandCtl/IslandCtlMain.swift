import Foundation

/// Islands, kinds, subscriptions and the state of an installation from the command line.
@main
struct IslandCtlMain {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let result = await IslandCtl.run(
            Array(CommandLine.arguments.dropFirst()), .process,
            read: { path in
                path == "-"
                    ? FileHandle.standardInput.readDataToEndOfFile()
                    : try Data(contentsOf: URL(fileURLWithPath: path))
            })
        FileHandle.standardOutput.write(Data(result.output.utf8))
        FileHandle.standardError.write(Data(result.errors.utf8))
        exit(result.status)
    }
}
