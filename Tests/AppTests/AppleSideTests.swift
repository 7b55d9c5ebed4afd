import Foundation
import TestSupport
import Testing

/// What of the app needs Apple's frameworks: parsed as it is, and type-checked against declarations like Apple's.
@Suite(.serialized) struct AppleSideTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        .standardizedFileURL.path
    static let stubs = ["ActivityKit", "SwiftUI", "WidgetKit", "UIKit", "OSLog"]
    /// As in Package.swift, for the targets that the root package builds.
    static let strict = [
        "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
    ].flatMap { ["-enable-upcoming-feature", $0] }

    @Test func `every file of the app parses`() async throws {
        try await TemporaryDirectory.with { folder in
            let files = try Self.swiftFiles("App")
            #expect(files.count > 15)
            let compiler = Compiler(folder: folder)
            #expect(try await compiler.run(["-frontend", "-parse"] + files) == "")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the app type-checks against Apple's declarations, and what Apple would refuse is found`() async throws {
        try await TemporaryDirectory.with { folder in
            let compiler = Compiler(folder: folder)
            try await compiler.makeModules()
            for module in ["IslandRegistration", "IslandWidgets"] {
                let files = try Self.swiftFiles("App/Sources/\(module)")
                #expect(try await compiler.check(module, files) == "", "\(module)")
                try await compiler.makeModule(module, files)
            }
            for (index, file) in try Self.codeOfTheReadMe(in: folder).enumerated() {
                #expect(try await compiler.check("ReadMe\(index)", [file, "\(folder)/Account.swift"]) == "")
            }
            for (module, mistakes) in Self.mistakes {
                let found = try await compiler.check(module, try Self.files(of: module, with: mistakes, in: folder))
                for mistake in mistakes {
                    #expect(
                        found.split(separator: "\n").contains {
                            $0.contains("/\(mistake.file):") && $0.contains("error:") && $0.contains(mistake.complaint)
                        }, "\(mistake.wrong) in \(mistake.file): \(found)")
                }
            }
        }
    }

    /// What Apple's compiler would refuse, and a word of what it says.
    struct Mistake {
        let file: String
        let right: String
        let wrong: String
        let complaint: String
    }

    static let mistakes: [String: [Mistake]] = [
        "IslandWidgets": [
            Mistake(
                file: "CoachIsland.swift", right: "detail: state.lastMeal", wrong: "detail: state.lastMeals",
                complaint: "lastMeals"),
            Mistake(
                file: "OrderIsland.swift", right: ".keylineTint(.orange)", wrong: ".keylineTint(\"orange\")",
                complaint: "String"),
            Mistake(
                file: "BalanceIsland.swift", right: "for: BalanceAttributes.self", wrong: "for: BalanceMark.self",
                complaint: "ActivityAttributes"),
            Mistake(file: "Pieces.swift", right: "Circle().stroke", wrong: "Circl().stroke", complaint: "Circl"),
        ],
        "IslandRegistration": [
            Mistake(
                file: "ObservedKind.swift", right: "dismissalPolicy: .immediate", wrong: "dismissalPolicy: .atOnce",
                complaint: "atOnce"),
            Mistake(
                file: "IslandRegistration.swift", right: "await client.refresh(activities)",
                wrong: "client.refresh(activities)", complaint: "refresh"),
        ],
    ]

    /// The module's files, those with a mistake as copies in `folder`.
    private static func files(of module: String, with mistakes: [Mistake], in folder: String) throws -> [String] {
        try swiftFiles("App/Sources/\(module)").map { original in
            guard let mistake = mistakes.first(where: { original.hasSuffix("/\($0.file)") }) else { return original }
            let text = try String(contentsOfFile: original, encoding: .utf8)
            try #require(text.contains(mistake.right), "\(mistake.file) has no \(mistake.right)")
            let copy = "\(folder)/\(mistake.file)"
            try Data(text.replacing(mistake.right, with: mistake.wrong).utf8).write(to: URL(fileURLWithPath: copy))
            return copy
        }
    }

    /// The pieces of Swift in App/README.md, a file each, and the sign-in of one's own that they speak of.
    private static func codeOfTheReadMe(in folder: String) throws -> [String] {
        let account = """
            struct Account: Sendable {
                static let current: Account? = nil
                let id: String
                func jwt(replacing refused: String?) async throws -> String { "" }
            }
            """
        try Data(account.utf8).write(to: URL(fileURLWithPath: "\(folder)/Account.swift"))
        let text = try String(contentsOfFile: "\(root)/App/README.md", encoding: .utf8)
        let pieces = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        try #require(pieces.count == 2)
        return try pieces.enumerated().map { index, piece in
            let file = "\(folder)/ReadMe\(index).swift"
            try Data(piece.utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
    }

    static func swiftFiles(_ folder: String) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
        return names.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map { "\(root)/\(folder)/\($0)" }
            .sorted()
    }
}

/// The Swift compiler, with a folder for the modules that it makes.
private struct Compiler {
    let folder: String

    /// The declarations of Apple's frameworks, and with them the modules that the app imports from the root package.
    func makeModules() async throws {
        for name in AppleSideTests.stubs {
            try await makeModule(name, ["\(AppleSideTests.root)/Tests/AppTests/Stubs/\(name).swift"])
        }
        // The package name lets `package` declarations be; bodies are compiled where the modules are built for good.
        let settings =
            AppleSideTests.strict + ["-package-name", "isthmus", "-experimental-skip-non-inlinable-function-bodies"]
        try await makeModule("Shared", try AppleSideTests.swiftFiles("Shared"), settings)
        try await makeModule("RegistrationCore", try AppleSideTests.swiftFiles("App/RegistrationCore"), settings)
    }

    func makeModule(_ name: String, _ files: [String], _ settings: [String] = []) async throws {
        let arguments =
            ["-emit-module", "-emit-module-path", "\(folder)/\(name).swiftmodule"] + common(name) + settings + files
        let complaints = try await run(arguments)
        try #require(complaints == "", "\(name)")
    }

    /// What the compiler says of these files.
    func check(_ module: String, _ files: [String]) async throws -> String {
        // As a whole, or it would stop at the first file with a mistake.
        try await run(["-typecheck", "-whole-module-optimization"] + common(module) + files)
    }

    private func common(_ module: String) -> [String] {
        [
            "-module-name", module, "-parse-as-library", "-swift-version", "6", "-warnings-as-errors", "-I", folder,
            "-module-cache-path", "\(folder)/cache",
        ]
    }

    /// Runs `swiftc`; returns what it says, or that it failed.
    func run(_ arguments: [String]) async throws -> String {
        let log = "\(folder)/\(UUID().uuidString).log"
        let process = try LocalProcess.start(
            "swiftc", arguments, environment: ProcessInfo.processInfo.environment, logFile: log)
        let status = try await process.waitForExit(within: .seconds(240))
        let said = try String(contentsOfFile: log, encoding: .utf8)
        return status == 0 || !said.isEmpty ? said : "swiftc ended with \(status) and said nothing"
    }
}
