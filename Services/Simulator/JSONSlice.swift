/// Cuts a value out of JSON text byte for byte, so that what is decoded is exactly what was sent.
struct JSONSlice {
    private let bytes: [UInt8]
    private var index = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes of the value under `path`; `nil` if there is none.
    ///
    /// - Parameter bytes: Well-formed JSON: decode it first.
    static func value(at path: [String], in bytes: [UInt8]) -> [UInt8]? {
        var slice = JSONSlice(bytes)
        for key in path {
            guard slice.enter(key) else { return nil }
        }
        slice.skipSpace()
        let start = slice.index
        slice.skipValue()
        return start < slice.index ? Array(bytes[start..<slice.index]) : nil
    }

    /// Goes to the value of `key` in the object that begins here.
    private mutating func enter(_ key: String) -> Bool {
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return false }
        while index < bytes.count {
            skipSpace()
            let start = index
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return false }
            skipString()
            let name = String(decoding: bytes[start..<index].dropFirst().dropLast(), as: UTF8.self)
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            if name == key { return true }
            skipSpace()
            skipValue()
            skipSpace()
            guard take(UInt8(ascii: ",")) else { return false }
        }
        return false
    }

    private mutating func skipValue() {
        guard index < bytes.count else { return }
        switch bytes[index] {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipNested()
        default:
            let ends = Array(",]} \n\r\t".utf8)
            while index < bytes.count, !ends.contains(bytes[index]) { index += 1 }
        }
    }

    private mutating func skipNested() {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
            if depth == 0 { return }
        }
    }

    private mutating func skipString() {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index + 1, bytes.count)
    }

    private mutating func skipSpace() {
        while index < bytes.count, Array(" \n\r\t".utf8).contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }
}
