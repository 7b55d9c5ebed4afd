/// A request's headers as they came: bytes one after the other, made into text only when somebody asks.
struct HeaderFields: Sendable {
    private struct Field {
        let name: Range<Int>
        let value: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    var count: Int { fields.count }

    mutating func reserve(bytes count: Int) {
        bytes.reserveCapacity(count)
        fields.reserveCapacity(16)
    }

    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        let middle = bytes.count
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Whether every name is one (RFC 9110, 5.1), and no value has control characters.
    var isWellFormed: Bool {
        fields.allSatisfy { field in
            !field.name.isEmpty && bytes[field.name].allSatisfy(\.isTokenCharacter)
                && bytes[field.value].allSatisfy(\.isFieldCharacter)
        }
    }

    /// The value of `name` in any case; several lines are joined by ", " (RFC 9110, 5.2).
    func value(of name: String) -> String? {
        var joined: String?
        for field in fields where isEqual(field.name, name) {
            let value = text(field.value)
            joined = joined.map { $0 + ", " + value } ?? value
        }
        return joined
    }

    /// How many lines `name` has.
    func lines(of name: String) -> Int { fields.count { isEqual($0.name, name) } }

    var all: [(name: String, value: String)] { fields.map { (text($0.name), text($0.value)) } }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self).trimmingSpaces
    }

    private func isEqual(_ range: Range<Int>, _ name: String) -> Bool {
        range.count == name.utf8.count
            && zip(range, name.utf8).allSatisfy { bytes[$0].asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension String {
    /// Without the optional white space around a header's value.
    fileprivate var trimmingSpaces: String {
        guard let first = utf8.first, let last = utf8.last else { return self }
        guard first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09 else { return self }
        let start = drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" } ?? start.startIndex
        return String(start[...end])
    }
}
