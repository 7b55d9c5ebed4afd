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
        var object: JSONOutput.ObjectStart?
    }

    // Unchecked, since one thread writes one value at a time: the check would cost as much as the writing.
    @exclusivity(unchecked) private var output: JSONOutput
    @exclusivity(unchecked) private var levels: [Level] = []

    private init(sortsKeys: Bool) {
        output = JSONOutput(sortsKeys: sortsKeys)
        levels.reserveCapacity(4)
    }

    /// The value's JSON, or `nil` if Foundation has to write it.
    static func bytes(of value: some Encodable, sortsKeys: Bool) -> [UInt8]? {
        let writer = JSONWriter(sortsKeys: sortsKeys)
        do { try writer.write(value) } catch { return nil }
        return writer.output.isUncertain ? nil : writer.output.bytes
    }

    /// Gives the whole to Foundation.
    func giveUp() { output.giveUp() }

    // MARK: Values

    func write<Value: Encodable>(_ value: Value) throws {
        if JSON.isSpecial(Value.self) { return giveUp() }
        levels.append(Level())
        try value.encode(to: JSONValueEncoder(writer: self))
        close(levels.removeLast())
    }

    private func close(_ level: Level) {
        switch level.kind {
        case .single: if level.isEmpty { giveUp() }
        case .array: output.append(UInt8(ascii: "]"))
        case .object: if let start = level.object { output.endObject(start) }
        // JSONEncoder has its own mind about values that say nothing.
        case .nothing: giveUp()
        }
    }

    func writeNull() { output.append("null") }

    func write(_ value: Bool) { output.write(value) }

    func write(_ value: String) { output.write(value) }

    func write(integer: some FixedWidthInteger) { output.write(integer) }

    func write(_ value: Double) { output.write(value) }

    func write(_ value: Float) { output.write(value) }

    // MARK: Containers

    /// Makes the value that is being written an object; it may say so more than once.
    func openObject() {
        switch levels[levels.count - 1].kind {
        case .object: break
        case .nothing:
            levels[levels.count - 1].kind = .object
            levels[levels.count - 1].object = output.beginObject()
        case .single, .array: giveUp()
        }
    }

    func openArray() {
        guard levels[levels.count - 1].kind == .nothing else { return giveUp() }
        levels[levels.count - 1].kind = .array
        output.append(UInt8(ascii: "["))
    }

    func openSingle() {
        guard levels[levels.count - 1].kind == .nothing else { return giveUp() }
        levels[levels.count - 1].kind = .single
    }

    /// The depth of the value that is being written: a container of another one must not be written to.
    var depth: Int { levels.count }

    func beginElement() { output.separate() }

    func field(_ key: String, _ write: () throws -> Void) rethrows {
        output.beginField(key: key)
        try write()
        output.endField()
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
        other.levels.append(Level())
        return JSONValueEncoder(writer: other)
    }
}
