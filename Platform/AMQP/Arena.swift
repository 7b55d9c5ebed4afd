import CRabbitMQ

/// Memory for the strings and tables of one call into librabbitmq, all given back at once.
///
/// What it hands out is valid until the next `recycle()`.
@safe final class Arena {
    private static let pageSize = 4096

    private let pool: UnsafeMutablePointer<amqp_pool_t>

    init() {
        unsafe pool = .allocate(capacity: 1)
        unsafe init_amqp_pool(pool, Self.pageSize)
    }

    deinit {
        unsafe empty_amqp_pool(pool)
        unsafe pool.deallocate()
    }

    func recycle() { unsafe recycle_amqp_pool(pool) }

    /// A copy of `text`.
    @unsafe func bytes(_ text: String) -> amqp_bytes_t {
        var text = text
        return text.withUTF8 { utf8 in
            let memory = unsafe allocate(UInt8.self, count: utf8.count)
            if let start = utf8.baseAddress { unsafe memory.update(from: start, count: utf8.count) }
            return unsafe amqp_bytes_t(len: utf8.count, bytes: memory)
        }
    }

    /// Room for `count` values, not initialised.
    @unsafe func allocate<Value>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        guard let memory = unsafe amqp_pool_alloc(pool, max(count, 1) * MemoryLayout<Value>.stride) else {
            preconditionFailure("out of memory")
        }
        return unsafe memory.assumingMemoryBound(to: type)
    }
}
