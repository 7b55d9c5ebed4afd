/// JSON text as it grows: what values write themselves to.
package struct JSONOutput: ~Copyable {
    /// Where an object begins, in the text and among the fields.
    struct ObjectStart {
        fileprivate let text: Int
        fileprivate let field: Int
    }

    /// Where a field's key and the whole field begin and end, without the comma.
    private struct Field {
        let start: Int
        let keyEnd: Int
        var end: Int
    }

    // Not an array, since each append to one asks again whether it is shared.
    private var text: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    /// Of the objects that are not closed yet; kept only if they are to be put in order.
    private var fields: [Field] = []
    private let sortsKeys: Bool
    /// Whether Foundation has to do it.
    private(set) var isUncertain = false

    init(sortsKeys: Bool = false, capacity: Int = 1024) {
        self.sortsKeys = sortsKeys
        self.capacity = capacity
        text = .allocate(capacity: capacity)
    }

    deinit { text.deallocate() }

    /// What was written so far.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: text, count: count)) }

    var size: Int { count }

    /// Gives the whole to Foundation.
    mutating func giveUp() { isUncertain = true }

    // MARK: Text as it is

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        grown.initialize(from: text, count: count)
        text.deallocate()
        text = grown
        capacity = larger
    }

    mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        text[count] = byte
        count += 1
    }

    mutating func append(_ literal: StaticString) {
        append(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        makeRoom(for: bytes.count)
        (text + count).initialize(from: start, count: bytes.count)
        count += bytes.count
    }

    mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends `size` bytes that `fill` writes where it is told to.
    mutating func append(_ size: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        makeRoom(for: size)
        fill(text + count)
        count += size
    }

    // MARK: Values

    mutating func write(_ value: Bool) { append(value ? "true" : "false") }

    mutating func write(_ value: some FixedWidthInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let magnitude = UInt64(value.magnitude)
        var digits = 1
        var rest = magnitude
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        append(digits) { Decimals.write(magnitude, digits, to: $0) }
    }

    mutating func write(_ value: Double) { write(number: value.description, isFinite: value.isFinite) }

    mutating func write(_ value: Float) { write(number: value.description, isFinite: value.isFinite) }

    private mutating func write(number: String, isFinite: Bool) {
        guard isFinite else { return giveUp() }
        var number = number
        number.withUTF8 { digits in
            let isWhole = digits.suffix(2).elementsEqual(".0".utf8)
            append(UnsafeBufferPointer(rebasing: digits.dropLast(isWhole ? 2 : 0)))
        }
    }

    /// Writes a text with its quotes, escaped as `JSONEncoder` does with `.withoutEscapingSlashes`.
    mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { utf8 in
            makeRoom(for: utf8.count + 2)
            append(JSONText.quote)
            var start = 0
            while true {
                let end = JSONText.plainEnd(of: utf8, from: start)
                append(UnsafeBufferPointer(rebasing: utf8[start..<end]))
                guard end < utf8.count else { break }
                escape(utf8[end])
                start = end + 1
            }
            append(JSONText.quote)
        }
    }

    private mutating func escape(_ byte: UInt8) {
        append(JSONText.backslash)
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case ..<0x20:
            append("u00")
            append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            append((byte & 15) + (byte & 15 < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        default: append(byte)
        }
    }

    // MARK: Containers

    /// Writes an object of the fields that `fields` writes.
    package mutating func object(_ fields: (inout JSONOutput) -> Void) {
        let start = beginObject()
        fields(&self)
        endObject(start)
    }

    mutating func array<Element>(_ elements: [Element], _ write: (inout JSONOutput, Element) -> Void) {
        append(UInt8(ascii: "["))
        for element in elements {
            separate()
            write(&self, element)
        }
        append(UInt8(ascii: "]"))
    }

    mutating func beginObject() -> ObjectStart {
        append(UInt8(ascii: "{"))
        return ObjectStart(text: count, field: fields.count)
    }

    mutating func endObject(_ start: ObjectStart) {
        if sortsKeys { sort(start) }
        append(UInt8(ascii: "}"))
    }

    /// Puts a comma after what came before in the same container: a value ends with neither of these two.
    mutating func separate() {
        let last = text[count - 1]
        if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { append(UInt8(ascii: ",")) }
    }

    /// - Parameter key: ASCII with nothing to escape.
    mutating func beginField(_ key: StaticString) {
        separate()
        let start = count
        let length = key.utf8CodeUnitCount
        append(length + 3) {
            $0[0] = JSONText.quote
            ($0 + 1).initialize(from: key.utf8Start, count: length)
            $0[length + 1] = JSONText.quote
            $0[length + 2] = UInt8(ascii: ":")
        }
        if sortsKeys { fields.append(Field(start: start, keyEnd: count - 1, end: count)) }
    }

    mutating func beginField(key: String) {
        separate()
        let start = count
        write(key)
        append(UInt8(ascii: ":"))
        guard sortsKeys else { return }
        // JSONEncoder sorts by what keys mean, which is the order of their bytes only for these.
        if key.utf8.contains(where: { $0 >= 0x7F || $0 <= UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) { giveUp() }
        fields.append(Field(start: start, keyEnd: count - 1, end: count))
    }

    mutating func endField() {
        if sortsKeys { fields[fields.count - 1].end = count }
    }

    // MARK: Order

    private mutating func sort(_ start: ObjectStart) {
        defer { fields.removeSubrange(start.field...) }
        var isSorted = true
        for index in start.field..<fields.count where index > start.field && isSorted {
            isSorted = Self.isBefore(fields[index - 1], fields[index], in: text)
        }
        guard !isSorted else { return }
        let unordered = [UInt8](UnsafeBufferPointer(start: text + start.text, count: count - start.text))
        let ordered = fields[start.field...].sorted { [text] in Self.isBefore($0, $1, in: text) }
        for (field, next) in zip(ordered, ordered.dropFirst()) where !Self.isBefore(field, next, in: text) {
            // The same key twice: of those JSONEncoder keeps one.
            return giveUp()
        }
        count = start.text
        unordered.withUnsafeBufferPointer { bytes in
            for field in ordered {
                separate()
                append(UnsafeBufferPointer(rebasing: bytes[field.start - start.text..<field.end - start.text]))
            }
        }
    }

    /// Whether the one key comes before the other, by their bytes.
    private static func isBefore(_ left: Field, _ right: Field, in text: UnsafeMutablePointer<UInt8>) -> Bool {
        var (at, other) = (left.start, right.start)
        // A key ends with a quote, which comes before whatever goes on in the other one.
        while at < left.keyEnd, other < right.keyEnd {
            guard text[at] == text[other] else { return text[at] < text[other] }
            at += 1
            other += 1
        }
        return false
    }
}
