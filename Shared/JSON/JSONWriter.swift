/// Writes a value's JSON as the value says its parts, with nothing in between.
///
/// A container has no end of its own; it ends when the value that opened it has said everything. That is why a nested
/// container, which may go on being written to later, is left to Foundation.
final class JSONWriter {
    private enum Kind { case nothing, single, object, array }

    /// A value that is being written.
    private struct Level {
        var kind = Kind.nothing
        var isEmpty = true
        /// Where its text begins.
        let start: Int
        /// Where its fields begin in `fields`.
        let firstField: Int
    }

    /// Where a field's key and the whole field begin and end, without the comma.
    private struct Field {
        let start: Int
        let keyEnd: Int
        var end: Int
    }

    // Unchecked, since one thread writes one value at a time: the check would cost as much as the writing.
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    @exclusivity(unchecked) private var levels: [Level] = []
    @exclusivity(unchecked) private var fields: [Field] = []
    private let sortsKeys: Bool
    /// Whether Foundation has to do it.
    private(set) var isUncertain = false

    private init(sortsKeys: Bool) {
        self.sortsKeys = sortsKeys
        bytes.reserveCapacity(512)
        levels.reserveCapacity(4)
    }

    /// The value's JSON, or `nil` if Foundation has to write it.
    static func bytes(of value: some Encodable, sortsKeys: Bool) -> [UInt8]? {
        let writer = JSONWriter(sortsKeys: sortsKeys)
        do { try writer.write(value) } catch { return nil }
        return writer.isUncertain ? nil : writer.bytes
    }

    /// Gives the whole to Foundation.
    func giveUp() { isUncertain = true }

    // MARK: Values

    func write<Value: Encodable>(_ value: Value) throws {
        if JSON.isSpecial(Value.self) { return giveUp() }
        levels.append(Level(start: bytes.count, firstField: fields.count))
        try value.encode(to: JSONValueEncoder(writer: self))
        close(levels.removeLast())
    }

    private func close(_ level: Level) {
        switch level.kind {
        case .single: if level.isEmpty { giveUp() }
        case .array: bytes.append(UInt8(ascii: "]"))
        case .object:
            if sortsKeys { sort(level) }
            bytes.append(UInt8(ascii: "}"))
        // JSONEncoder has its own mind about values that say nothing.
        case .nothing: giveUp()
        }
    }

    func writeNull() { bytes += "null".utf8 }

    func write(_ value: Bool) { bytes += (value ? "true" : "false").utf8 }

    func write(_ value: String) { JSONText.append(value, to: &bytes) }

    func write(integer: some BinaryInteger) {
        var text = String(integer)
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    func write(_ value: Double) { write(number: value.description, isFinite: value.isFinite) }

    func write(_ value: Float) { write(number: value.description, isFinite: value.isFinite) }

    private func write(number text: String, isFinite: Bool) {
        guard isFinite else { return giveUp() }
        bytes += text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...]
    }

    // MARK: Containers

    /// Makes the value that is being written an object; it may say so more than once.
    func openObject() {
        switch levels[levels.count - 1].kind {
        case .object: break
        case .nothing:
            levels[levels.count - 1].kind = .object
            bytes.append(UInt8(ascii: "{"))
        case .single, .array: giveUp()
        }
    }

    func openArray() {
        guard levels[levels.count - 1].kind == .nothing else { return giveUp() }
        levels[levels.count - 1].kind = .array
        bytes.append(UInt8(ascii: "["))
    }

    func openSingle() {
        guard levels[levels.count - 1].kind == .nothing else { return giveUp() }
        levels[levels.count - 1].kind = .single
    }

    /// The depth of the value that is being written: a container of another one must not be written to.
    var depth: Int { levels.count }

    func beginElement() {
        if !levels[levels.count - 1].isEmpty { bytes.append(UInt8(ascii: ",")) }
        levels[levels.count - 1].isEmpty = false
    }

    func field(_ key: String, _ write: () throws -> Void) rethrows {
        beginElement()
        let start = bytes.count
        JSONText.append(key, to: &bytes)
        let keyEnd = bytes.count
        bytes.append(UInt8(ascii: ":"))
        try write()
        guard sortsKeys else { return }
        // JSONEncoder sorts by what keys mean, which is the order of their bytes only for these.
        if key.utf8.contains(where: { $0 >= 0x7F || $0 <= UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) { giveUp() }
        fields.append(Field(start: start, keyEnd: keyEnd, end: bytes.count))
    }

    /// Whether nothing was said of the value yet; from then on something was.
    func isFirst() -> Bool {
        defer { levels[levels.count - 1].isEmpty = false }
        return levels[levels.count - 1].isEmpty
    }

    /// Takes what is not to be written here, and gives the whole to Foundation.
    func nowhere() -> JSONValueEncoder {
        giveUp()
        let other = JSONWriter(sortsKeys: false)
        other.levels.append(Level(start: 0, firstField: 0))
        return JSONValueEncoder(writer: other)
    }

    // MARK: Order

    private func sort(_ level: Level) {
        defer { fields.removeSubrange(level.firstField...) }
        let own = fields[level.firstField...]
        var isSorted = true
        for (field, next) in zip(own, own.dropFirst()) where isSorted { isSorted = isBefore(field, next) }
        guard !isSorted else { return }
        let ordered = own.sorted(by: isBefore)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count - level.start)
        for (field, next) in zip(ordered, ordered.dropFirst()) where !isBefore(field, next) {
            // The same key twice: of those JSONEncoder keeps one.
            return giveUp()
        }
        for field in ordered {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text += bytes[field.start..<field.end]
        }
        bytes.replaceSubrange((level.start + 1)..., with: text)
    }

    /// Whether the one key comes before the other, by their bytes.
    private func isBefore(_ left: Field, _ right: Field) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var (at, other) = (left.start, right.start)
            // A key ends with a quote, which comes before whatever goes on in the other one.
            while at < left.keyEnd, other < right.keyEnd {
                guard bytes[at] == bytes[other] else { return bytes[at] < bytes[other] }
                at += 1
                other += 1
            }
            return false
        }
    }
}
