package import Crypto
import Foundation
package import Runtime

/// The keys under which the cache keeps what it knows: Redis sees neither a handle nor a token.
package struct CacheKeys: Sendable {
    /// Names the entries.
    package let hash: HMACKey
    /// Seals them; the first key seals, all open.
    package let sealing: Keyring

    package init(hash: HMACKey, sealing: Keyring) {
        self.hash = hash
        self.sealing = sealing
    }

    /// Reads the keys from files, in the one way that all services must do it to understand each other.
    ///
    /// - Parameters:
    ///   - hashKeyFile: `HASH_KEY_FILE`: a file of at least 16 bytes of text; white space around it does not count.
    ///   - dataKeyFiles: `DATA_KEY_FILES`: paths with commas between them; each file is `id:Base64 of 32 bytes`.
    package init(hashKeyFile: String, dataKeyFiles: String) throws(SettingsProblem) {
        self.init(hash: try Self.hashKey(hashKeyFile), sealing: try Self.keyring(dataKeyFiles))
    }

    package static func hashKey(_ file: String) throws(SettingsProblem) -> HMACKey {
        let bytes = Array(try text(of: file).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        guard bytes.count >= 16 else { throw SettingsProblem("\(file) holds fewer than 16 bytes") }
        return HMACKey(bytes)
    }

    package static func keyring(_ files: String) throws(SettingsProblem) -> Keyring {
        var texts: [String] = []
        for file in files.split(separator: ",") {
            texts.append(try text(of: file.trimmingCharacters(in: .whitespaces)))
        }
        do {
            return try Keyring(fileTexts: texts)
        } catch {
            throw SettingsProblem(error.description)
        }
    }

    private static func text(of file: String) throws(SettingsProblem) -> String {
        do {
            return try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw SettingsProblem("cannot read \(file)")
        }
    }
}
