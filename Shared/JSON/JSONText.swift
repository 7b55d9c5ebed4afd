/// JSON as bytes, written and looked at without a general encoder: it is on the way of every push.
enum JSONText {
    /// Appends `string` with its quotes, escaped as `JSONEncoder` does with `.withoutEscapingSlashes`.
    static func append(_ string: String, to bytes: inout [UInt8]) {
        var string = string
        bytes.append(quote)
        string.withUTF8 { text in
            // Most texts have nothing to escape, and those that have are mostly JSON themselves.
            var start = 0
            for index in 0..<text.count {
                let byte = text[index]
                guard byte < 0x20 || byte == quote || byte == backslash else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
                appendEscaped(byte, to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        }
        bytes.append(quote)
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case ..<0x20:
            bytes += "u00".utf8
            bytes.append(hexDigits[Int(byte >> 4)])
            bytes.append(hexDigits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }

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

    private static let hexDigits = Array("0123456789abcdef".utf8)
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")
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
