import Foundation

/// Islands, kinds and topology from the command line.
@main
struct IslandCtlMain {
    static func main() {
        let result = IslandCtl.run(
            Array(CommandLine.arguments.dropFirst()),
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
