/// JSON as bytes, looked at without a general decoder: it is on the way of every push.
enum JSONText {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")

    /// Where the first byte stands, from `start` on, that a text cannot have without an escape; else the end.
    static func plainEnd(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var at = start
        while at + 8 <= text.count {
            // Of eight bytes at once, the highest bit of those that are found; what comes after the first may be wrong.
            let word = word(of: text, at: at)
            let found =
                (word &- each(0x20)) & ~word | zeros(in: word ^ each(quote)) | zeros(in: word ^ each(backslash))
            guard found & each(0x80) == 0 else { return at + (found & each(0x80)).trailingZeroBitCount / 8 }
            at += 8
        }
        while at < text.count, text[at] >= 0x20, text[at] != quote, text[at] != backslash { at += 1 }
        return at
    }

    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        while at + 8 <= text.count {
            guard word(of: text, at: at) & each(0x80) == 0 else { return false }
            at += 8
        }
        return text[at...].allSatisfy { $0 < 0x80 }
    }

    private static func word(of text: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt64 {
        UInt64(littleEndian: UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    private static func each(_ byte: UInt8) -> UInt64 { UInt64(byte) * 0x0101_0101_0101_0101 }

    private static func zeros(in word: UInt64) -> UInt64 { (word &- each(1)) & ~word }

    // MARK: Escapes

    /// What a text with escapes says; half of a pair is left to Foundation.
    static func unescaped(_ text: UnsafeBufferPointer<UInt8>) throws(JSONUnusual) -> String {
        var isWhole = true
        let said = String(unsafeUninitializedCapacity: text.count) { bytes in
            let size = unescape(text, to: bytes)
            isWhole = size != nil
            return size ?? 0
        }
        guard isWhole else { throw JSONUnusual() }
        return said
    }

    /// Writes what the text says, which is never longer, and tells its size.
    private static func unescape(
        _ text: UnsafeBufferPointer<UInt8>, to bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        guard let from = text.baseAddress, let to = bytes.baseAddress else { return 0 }
        var (index, size) = (0, 0)
        while true {
            let end = plainEnd(of: text, from: index)
            (to + size).initialize(from: from + index, count: end - index)
            size += end - index
            guard end + 1 < text.count else { return end == text.count ? size : nil }
            index = end + 2
            switch text[end + 1] {
            case quote, backslash, UInt8(ascii: "/"): to[size] = text[end + 1]
            case UInt8(ascii: "b"): to[size] = 0x08
            case UInt8(ascii: "f"): to[size] = 0x0C
            case UInt8(ascii: "n"): to[size] = 0x0A
            case UInt8(ascii: "r"): to[size] = 0x0D
            case UInt8(ascii: "t"): to[size] = 0x09
            case UInt8(ascii: "u"):
                guard let scalar = scalar(text, &index) else { return nil }
                for unit in scalar.utf8 {
                    to[size] = unit
                    size += 1
                }
                continue
            default: return nil
            }
            size += 1
        }
    }

    /// The character of one `\uXXXX`, or of the two that make a pair.
    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        guard let first = codeUnit(text, &index) else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), index + 2 <= text.count, text[index] == backslash,
            text[index + 1] == UInt8(ascii: "u")
        else { return nil }
        index += 2
        guard let second = codeUnit(text, &index), UTF16.isTrailSurrogate(second) else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func codeUnit(_ text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt16? {
        guard index + 4 <= text.count else { return nil }
        var value: UInt16 = 0
        for byte in text[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        index += 4
        return value
    }

    // MARK: Fields

    /// The fields of an object with their bytes, key and value; `nil` unless `json` is one whole object.
    ///
    /// It follows quotes and brackets only, which is what it takes to know that the bytes can stand inside other JSON.
    static func fields(of json: [UInt8]) -> [(name: String, bytes: Int)]? {
        var scanner = FieldScanner()
        for (index, byte) in json.enumerated() {
            guard !scanner.isDone || isSpace(byte), scanner.take(byte, at: index, in: json) else { return nil }
        }
        return scanner.isDone ? scanner.fields : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

private struct FieldScanner {
    private(set) var fields: [(name: String, bytes: Int)] = []
    private(set) var isDone = false
    private var open: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// Where the field begins that is being read, and where its key ends.
    private var fieldStart = 0
    private var keyEnd: Int?

    /// Takes the next byte; false if no object can have it there.
    mutating func take(_ byte: UInt8, at index: Int, in json: [UInt8]) -> Bool {
        if isDone { return true }
        if isInString {
            takeInString(byte, at: index)
            return true
        }
        switch byte {
        case JSONText.quote: isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if open.isEmpty { fieldStart = index + 1 }
            open.append(byte + 2)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard open.popLast() == byte else { return false }
            if open.isEmpty {
                endField(at: index, in: json)
                isDone = true
            }
        case UInt8(ascii: ",") where open.count == 1: endField(at: index, in: json)
        default: break
        }
        return open.first == UInt8(ascii: "}") || isDone && byte == UInt8(ascii: "}")
    }

    private mutating func takeInString(_ byte: UInt8, at index: Int) {
        if isEscaped {
            isEscaped = false
        } else if byte == JSONText.backslash {
            isEscaped = true
        } else if byte == JSONText.quote {
            isInString = false
            if open.count == 1, keyEnd == nil { keyEnd = index }
        }
    }

    private mutating func endField(at index: Int, in json: [UInt8]) {
        if let keyEnd, let begin = json[fieldStart..<keyEnd].firstIndex(of: JSONText.quote) {
            let name = String(decoding: json[(begin + 1)..<keyEnd], as: UTF8.self)
            fields.append((name, index - fieldStart))
        }
        fieldStart = index + 1
        keyEnd = nil
    }
}
