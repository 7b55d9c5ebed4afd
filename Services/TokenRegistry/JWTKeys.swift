import Crypto
import Foundation
import Runtime

/// The JWK set of the customer's sign-in, read again when its file changes: that is how its keys are rotated.
final class JWTKeys: Sendable {
    /// How often the file is looked at, at most, in seconds.
    static let interval = 1.0

    private struct State {
        var keys: JWKSet
        var version: Version
        var lookedAt: Double
    }

    private struct Version: Equatable {
        let modified: Date?
        let size: Int?
        let file: Int?
    }

    private let path: String
    private let log: Log
    private let state: Locked<State>

    /// Reads the file; throws what is wrong with it.
    init(path: String, log: Log) throws(SettingsProblem) {
        self.path = path
        self.log = log
        let version = Self.version(of: path)
        state = Locked(State(keys: try Self.read(path), version: version, lookedAt: monotonicSeconds()))
    }

    /// The keys that count now.
    ///
    /// A file that has become unreadable leaves the last good keys in force.
    var current: JWKSet {
        let now = monotonicSeconds()
        return state.withLock { state in
            guard now - state.lookedAt >= Self.interval else { return state.keys }
            state.lookedAt = now
            let version = Self.version(of: path)
            guard version != state.version else { return state.keys }
            state.version = version
            do {
                state.keys = try Self.read(path)
                log.info("sign-in keys read again")
            } catch { log.error("sign-in keys not read again, the old ones stay", ["error": "\(error)"]) }
            return state.keys
        }
    }

    private static func read(_ path: String) throws(SettingsProblem) -> JWKSet {
        do {
            return try JWKSet(json: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
        } catch let error as CryptoError {
            throw SettingsProblem("\(path): \(error.description)")
        } catch {
            throw SettingsProblem("cannot read \(path)")
        }
    }

    /// Changes when the file is written or another one is moved in its place.
    ///
    /// Kubernetes hands a Secret out as a link to a link, and changes the one in the middle.
    private static func version(of path: String) -> Version {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        // A file that is not there has a version of its own, and reading it says what is wrong.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return Version(
            modified: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int,
            file: attributes?[.systemFileNumber] as? Int)
    }
}
