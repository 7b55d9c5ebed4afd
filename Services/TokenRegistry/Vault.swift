import Crypto
import RegistryClient

/// How handles and tokens lie in the database: sealed, and found by a keyed hash.
struct Vault: Sendable {
    enum Kind: String { case handle, token, outbox }

    private let keys: CacheKeys

    init(_ keys: CacheKeys) { self.keys = keys }

    /// The same for the same text, and worth nothing without the key: a phone number's plain hash can be guessed.
    func hash(_ kind: Kind, _ text: String) -> [UInt8] {
        keys.hash.authenticate(Array("\(kind.rawValue)\0".utf8), Array(text.utf8))
    }

    /// Seals `text` for the row that has its hash: moved to another row, it does not open.
    func seal(_ kind: Kind, _ text: String) -> [UInt8] {
        keys.sealing.seal(Array(text.utf8), context: context(kind, hash(kind, text)))
    }

    func open(_ kind: Kind, _ sealed: [UInt8], hash: [UInt8]) throws(CryptoError) -> String {
        String(decoding: try keys.sealing.open(sealed, context: context(kind, hash)), as: UTF8.self)
    }

    func sealOutbox(_ bytes: [UInt8]) -> [UInt8] { keys.sealing.seal(bytes, context: context(.outbox, [])) }

    func openOutbox(_ sealed: [UInt8]) throws(CryptoError) -> [UInt8] {
        try keys.sealing.open(sealed, context: context(.outbox, []))
    }

    /// What all that the present key seals begins with.
    var sealedPrefix: [UInt8] { keys.sealing.sealedPrefix }

    private func context(_ kind: Kind, _ hash: [UInt8]) -> [UInt8] { Array("registry/\(kind.rawValue)/".utf8) + hash }
}
