/// What Redis answers (protocol RESP 2).
package enum RedisValue: Sendable, Equatable {
    case null
    /// A word such as `OK`.
    case status(String)
    /// An error within an array; one that is the whole answer is thrown instead.
    case error(String)
    case integer(Int64)
    case bytes([UInt8])
    case array([RedisValue])

    /// The bytes as text, invalid UTF-8 repaired; a status as its word.
    package var text: String? {
        switch self {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .status(let word): word
        case .null, .error, .integer, .array: nil
        }
    }

    package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
