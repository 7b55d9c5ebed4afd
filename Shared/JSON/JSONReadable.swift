/// A value that reads itself from JSON, with no decoder in between: for what crosses a queue with every text.
///
/// `init(from:)` stays the definition: what is read here has to be the same, and whatever that might take otherwise, or
/// refuse, is `JSONUnusual`.
package protocol JSONReadable: Decodable {
    init(json: JSONInput) throws(JSONUnusual)
}

/// A value that does both.
package typealias JSONCodable = JSONReadable & JSONWritable

/// Something that is for Foundation to judge; nobody sees this error.
package struct JSONUnusual: Error {
    package init() {}
}

extension JSONInput {
    /// Reads a value; `nil` if Foundation has to.
    package static func value<Value>(
        of bytes: [UInt8], _ read: (JSONInput) throws(JSONUnusual) -> Value
    ) -> Value? {
        guard let nodes = JSONScanner.nodes(of: bytes) else { return nil }
        return bytes.withUnsafeBufferPointer { text in
            nodes.withUnsafeBufferPointer { nodes in
                do throws(JSONUnusual) { return try read(JSONInput(text: text, nodes: nodes, at: 0)) } catch {
                    return nil
                }
            }
        }
    }
}

extension String: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) { self = try json.string() }
}

extension Bool: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) { self = try json.bool() }
}

extension Int: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) { self = try json.integer() }
}

extension Int64: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) { self = try json.integer() }
}

extension Double: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) { self = try json.double() }
}

extension Array: JSONReadable where Element: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) {
        self = []
        reserveCapacity(try json.count(of: .array))
        var rest = try json.elements()
        while let element = rest.next() { append(try Element(json: element)) }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    package init(json: JSONInput) throws(JSONUnusual) {
        self.init(minimumCapacity: try json.count(of: .object))
        var rest = try json.elements()
        while let key = rest.next(), let value = rest.next() {
            // Keys of other bytes may be the same text: which of them counts is not for us to say.
            guard updateValue(try Value(json: value), forKey: try key.string()) == nil else { throw JSONUnusual() }
        }
    }
}

extension RawRepresentable where Self: JSONReadable, RawValue == String {
    package init(json: JSONInput) throws(JSONUnusual) {
        guard let value = Self(rawValue: try json.string()) else { throw JSONUnusual() }
        self = value
    }
}
