/// The path and query of a request, known to be well-formed.
struct RequestTarget: Sendable {
    let path: String
    private let rawQuery: String?

    /// Refuses what is not a path or a URL, characters that must be encoded, bad percent-encoding, text that is not
    /// UTF-8 after decoding, and the NUL character in any form.
    init?(_ text: String) {
        guard Self.isWellFormed(text), let target = Self.originForm(text) else { return nil }
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            path = String(target)
            rawQuery = nil
            return
        }
        path = String(target[..<mark])
        rawQuery = String(target[target.index(after: mark)...])
    }

    var segments: [String] {
        let raw = path.dropFirst()
        guard !raw.isEmpty else { return [] }
        return raw.split(separator: "/", omittingEmptySubsequences: false).map { Self.decoded($0, plusIsSpace: false) }
    }

    var query: [(name: String, value: String)] {
        guard let rawQuery, !rawQuery.isEmpty else { return [] }
        return rawQuery.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                Self.decoded(parts[0], plusIsSpace: true),
                parts.count > 1 ? Self.decoded(parts[1], plusIsSpace: true) : ""
            )
        }
    }

    /// RFC 9112, 3.2: a path, a whole URL (as to a proxy; a server has to take it), or a star.
    private static func originForm(_ text: String) -> Substring? {
        if text.utf8.first == UInt8(ascii: "/") || text == "*" { return text[...] }
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/"), slash > rest.startIndex else { return nil }
        return rest[slash...]
    }

    private static func isWellFormed(_ text: String) -> Bool {
        var isEncoded = false
        for byte in text.utf8 {
            guard byte > 0x20, byte < 0x7F else { return false }
            if byte == UInt8(ascii: "%") { isEncoded = true }
        }
        guard isEncoded else { return !text.isEmpty }
        guard let bytes = decodedBytes(text.utf8), !bytes.contains(0) else { return false }
        return String(validating: bytes, as: UTF8.self) != nil
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        let plain = plusIsSpace ? String(text.replacing("+", with: " ")) : String(text)
        guard plain.utf8.contains(UInt8(ascii: "%")), let bytes = decodedBytes(plain.utf8) else { return plain }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decodedBytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(\.hexValue), let low = rest.next().flatMap(\.hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
