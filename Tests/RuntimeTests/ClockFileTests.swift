import Foundation
import TestSupport
import Testing

@testable import Runtime

@Suite struct `A file that moves the clock` {
    @Test func `moves all clocks that read it, on and back`() async throws {
        try await TemporaryDirectory.with { folder in
            let file = ClockFile(path: "\(folder)/clock")
            let another = ClockFile(path: "\(folder)/clock")
            #expect(another.secondsAhead == 0)
            try file.move(by: 3600)
            #expect(another.secondsAhead == 3600)
            try another.move(by: -7200.5)
            #expect(file.secondsAhead == -3600.5)
        }
    }

    @Test func `what holds no number is refused when a service starts`() async throws {
        try await TemporaryDirectory.with { folder in
            let path = "\(folder)/clock"
            func problems() -> [String] {
                var settings = Settings(["CLOCK_FILE": path])
                _ = settings.clockFile()
                return settings.problems
            }
            #expect(problems() == [])
            for text in ["an hour", "", "nan", "1e999"] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                #expect(problems().count == 1, "\(text)")
                #expect(ClockFile(path: path).secondsAhead == 0)
            }
        }
    }
}
