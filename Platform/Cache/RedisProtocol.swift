import CHiredis

/// One command in Redis' protocol.
struct RedisCommand: Sendable {
    /// The most bytes that a command's arguments may have together.
    static let sizeLimit = 16 << 20
    /// After these the answers no longer go with the commands, one to one.
    private static let unpaired: Set<String> = [
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR", "SYNC",
        "PSYNC", "CLIENT", "HELLO", "RESET", "QUIT",
    ]

    let bytes: [UInt8]

    init(_ arguments: [[UInt8]]) throws(CacheError) {
        guard let name = arguments.first, !Self.unpaired.contains(String(decoding: name, as: UTF8.self).uppercased())
        else { throw CacheError(.protocolError, "the command cannot be used on a shared connection") }
        try self.init(unchecked: arguments)
    }

    init(unchecked arguments: [[UInt8]]) throws(CacheError) {
        let all = arguments.flatMap { $0 }
        guard all.count <= Self.sizeLimit, arguments.count <= Self.sizeLimit else {
            throw CacheError(.tooMuch, "the command has more than \(Self.sizeLimit) bytes")
        }
        var text: UnsafeMutablePointer<CChar>?
        let count = unsafe all.withUnsafeBytes { all in
            let start = unsafe all.assumingMemoryBound(to: CChar.self).baseAddress
            var offset = 0
            var pointers = unsafe arguments.map { argument -> UnsafePointer<CChar>? in
                defer { offset += argument.count }
                return unsafe start.map { unsafe UnsafePointer($0 + offset) }
            }
            return unsafe redisFormatCommandArgv(&text, Int32(arguments.count), &pointers, arguments.map(\.count))
        }
        guard count > 0, let formatted = unsafe text else { throw CacheError(.tooMuch, "out of memory") }
        defer { unsafe redisFreeCommand(formatted) }
        bytes = unsafe Array(UnsafeRawBufferPointer(start: formatted, count: Int(count)))
    }
}

/// Takes bytes as they come and gives answers; the only type that holds a `redisReader *`.
@safe struct RedisReplyReader: ~Copyable {
    /// The most bytes that may wait for an answer to be whole.
    private static let sizeLimit = 64 << 20

    private let pointer: UnsafeMutablePointer<redisReader>?

    init() { unsafe pointer = redisReaderCreate() }

    deinit { unsafe redisReaderFree(pointer) }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
        guard let reader = unsafe pointer else { throw CacheError(.protocolError, "out of memory") }
        guard unsafe reader.pointee.len - reader.pointee.pos + bytes.count <= Self.sizeLimit else {
            throw CacheError(.protocolError, "an answer has more than \(Self.sizeLimit) bytes")
        }
        let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
        guard unsafe redisReaderFeed(reader, start, bytes.count) == REDIS_OK else { throw unsafe failure(reader) }
    }

    /// The next answer, if all of it is there.
    func next() throws(CacheError) -> RedisValue? {
        guard let reader = unsafe pointer else { throw CacheError(.protocolError, "out of memory") }
        var answer: UnsafeMutableRawPointer?
        guard unsafe redisReaderGetReply(reader, &answer) == REDIS_OK else { throw unsafe failure(reader) }
        guard let answer = unsafe answer else { return nil }
        defer { unsafe freeReplyObject(answer) }
        return unsafe Self.value(answer.assumingMemoryBound(to: redisReply.self).pointee)
    }

    // The reader refuses arrays more than seven deep, so this ends.
    private static func value(_ reply: redisReply) -> RedisValue {
        switch unsafe reply.type {
        case REDIS_REPLY_STATUS: return unsafe .status(String(decoding: bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return unsafe .error(String(decoding: bytes(reply), as: UTF8.self))
        case REDIS_REPLY_INTEGER: return unsafe .integer(reply.integer)
        case REDIS_REPLY_STRING: return unsafe .bytes(bytes(reply))
        case REDIS_REPLY_ARRAY:
            let elements = unsafe UnsafeBufferPointer(start: reply.element, count: Int(reply.elements))
            return unsafe .array(elements.map { element in unsafe element.map { unsafe value($0.pointee) } ?? .null })
        default: return .null
        }
    }

    private static func bytes(_ reply: redisReply) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: reply.str, count: Int(reply.len)))
    }

    private func failure(_ reader: UnsafeMutablePointer<redisReader>) -> CacheError {
        let words = unsafe withUnsafeBytes(of: reader.pointee.errstr) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return CacheError(.protocolError, words)
    }
}
