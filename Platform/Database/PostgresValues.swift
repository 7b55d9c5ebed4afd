import CPostgreSQL

/// A statement's parameters as libpq takes them: one run of bytes and where each value lies in it.
struct PostgresValues {
    // Type numbers of PostgreSQL's catalogue, pg_type.dat. 0 lets the server infer the type.
    private static let inferred: Oid = 0
    private static let bytea: Oid = 17
    private static let int8: Oid = 20
    private static let float8: Oid = 701

    private(set) var types: [Oid] = []
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ values: [DatabaseValue]) throws(DatabaseError) {
        for value in values {
            switch value {
            case .null:
                offsets.append(nil)
                types.append(Self.inferred)
                lengths.append(0)
                formats.append(0)
            case .integer(let integer): append("\(integer)".utf8, Self.int8, format: 0)
            case .real(let real): append("\(real)".utf8, Self.float8, format: 0)
            case .text(let text):
                guard !text.utf8.contains(0) else { throw DatabaseError.textWithNUL() }
                append(text.utf8, Self.inferred, format: 0)
            case .blob(let blob):
                guard blob.count <= Int32.max else { throw DatabaseError(.run, code: "size", "a blob is too large") }
                append(blob, Self.bytea, format: 1)
            }
        }
    }

    /// Appends a value with a NUL after it: that is where libpq sees the end of one in text format (0).
    private mutating func append(_ value: some Collection<UInt8>, _ type: Oid, format: Int32) {
        offsets.append(bytes.count)
        types.append(type)
        lengths.append(Int32(clamping: value.count))
        formats.append(format)
        bytes.append(contentsOf: value)
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            let pointers = unsafe offsets.map { offset -> UnsafePointer<CChar>? in
                if let start = unsafe start, let offset { unsafe UnsafePointer(start + offset) } else { nil }
            }
            return unsafe body(pointers, lengths, formats)
        }
    }
}
