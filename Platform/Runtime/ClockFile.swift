import Foundation

/// A file that moves the wall clocks of all processes that are started with its path as `CLOCK_FILE`.
///
/// It holds the seconds, as text, by which they are ahead of the machine's clock; without the file, none. It is for
/// demonstrations and tests alone: eight hours pass at a stroke, or a clock is wrong. Who changes it puts another file in
/// its place, since it is read at every look at the clock.
package struct ClockFile: Sendable {
    package static let setting = "CLOCK_FILE"

    /// That of this process, if it was given one.
    package static let ofProcess = ProcessInfo.processInfo.environment[setting].flatMap { path in
        path.isEmpty ? nil : ClockFile(path: path)
    }

    private let path: String

    package init(path: String) { self.path = path }

    /// By how many seconds the clocks are ahead.
    ///
    /// A file that cannot be read counts as none: a clock has nobody to tell.
    package var secondsAhead: Double { (try? read()) ?? 0 }

    /// Moves the clocks on, or back.
    package func move(by seconds: Double) throws {
        let text = "\(try read() + seconds)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// Throws a `SettingsProblem` for a file that is there and holds no number of seconds.
    func check() throws { _ = try read() }

    private func read() throws -> Double {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SettingsProblem("the file cannot be read") }
            return 0
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let length = unsafe Foundation.read(file, &bytes, bytes.count)
        guard length >= 0 else { throw SettingsProblem("the file cannot be read") }
        let text = String(decoding: bytes.prefix(length), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let seconds = Double(text), seconds.isFinite else {
            throw SettingsProblem("the file must hold the seconds by which the clock is to be ahead")
        }
        return seconds
    }
}

extension Settings {
    /// `CLOCK_FILE`, which every service has.
    mutating func clockFile() -> ClockFile? {
        absent(ClockFile.setting, "for tests only: a file with the seconds by which the clock is ahead") { path in
            let file = ClockFile(path: path)
            try file.check()
            return file
        }
    }
}
