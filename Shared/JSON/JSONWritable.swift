/// A value that writes its own JSON, with no encoder in between: for what crosses a queue with every text.
///
/// `encode(to:)` stays the definition; what is written here has to be the same, byte for byte.
package protocol JSONWritable: Encodable {
    func write(to json: inout JSONOutput)
}

extension JSONOutput {
    /// Writes a field of an object.
    package mutating func field(_ key: StaticString, _ value: String) {
        beginField(key)
        write(value)
        endField()
    }

    package mutating func field(_ key: StaticString, _ value: some JSONWritable) {
        beginField(key)
        value.write(to: &self)
        endField()
    }

    /// Writes a field, or none for `nil`.
    package mutating func field(_ key: StaticString, _ value: String?) {
        if let value { field(key, value) }
    }

    package mutating func field(_ key: StaticString, _ value: (some JSONWritable)?) {
        if let value { field(key, value) }
    }

    /// The value's JSON, or `nil` if Foundation has to write it.
    package static func bytes(of value: some JSONWritable, sortsKeys: Bool) -> [UInt8]? {
        var json = JSONOutput(sortsKeys: sortsKeys)
        value.write(to: &json)
        return json.isUncertain ? nil : json.bytes
    }
}

extension String: JSONWritable {
    package func write(to json: inout JSONOutput) { json.write(self) }
}

extension Bool: JSONWritable {
    package func write(to json: inout JSONOutput) { json.write(self) }
}

extension Int: JSONWritable {
    package func write(to json: inout JSONOutput) { json.write(self) }
}

extension Int64: JSONWritable {
    package func write(to json: inout JSONOutput) { json.write(self) }
}

extension Double: JSONWritable {
    package func write(to json: inout JSONOutput) { json.write(self) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to json: inout JSONOutput) { json.array(self) { $1.write(to: &$0) } }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.object { json in
            for (key, value) in self {
                json.beginField(key: key)
                value.write(to: &json)
                json.endField()
            }
        }
    }
}

extension RawRepresentable where Self: JSONWritable, RawValue == String {
    package func write(to json: inout JSONOutput) { json.write(rawValue) }
}
