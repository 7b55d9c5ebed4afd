import CNGHTTP2
import Runtime

/// Header fields in the form that nghttp2 takes.
///
/// Its memory is used again for each message of a connection.
@safe struct HeaderBlock {
    private struct Field {
        let name: Range<Int>
        let value: Range<Int>
        let isNeverIndexed: Bool
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []
    private var vector: [nghttp2_nv] = unsafe []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// - Parameter isNeverIndexed: The value is secret, or different each time: it stays out of the peer's table.
    mutating func append(_ name: String, _ value: String, isNeverIndexed: Bool = false) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let middle = bytes.count
        bytes.append(contentsOf: value.utf8)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count, isNeverIndexed: isNeverIndexed))
    }

    /// Calls `body` with the fields; they are valid during the call alone.
    mutating func withVector(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) -> Int32 {
        unsafe vector.removeAll(keepingCapacity: true)
        return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            for field in fields {
                let flags = field.isNeverIndexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                unsafe vector.append(
                    nghttp2_nv(
                        name: bytes.baseAddress?.advanced(by: field.name.lowerBound),
                        value: bytes.baseAddress?.advanced(by: field.value.lowerBound), namelen: field.name.count,
                        valuelen: field.value.count, flags: UInt8(flags.rawValue)))
            }
            return unsafe vector.withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
        }
    }
}

extension HTTP2Request {
    /// What in this request cannot be sent over HTTP/2 (RFC 9113, 8.2.1), if there is something.
    var malformedPart: String? {
        guard unsafe isGood(method, nghttp2_check_method), unsafe isGood(path, nghttp2_check_path) else {
            return "the method or the path"
        }
        let field = headers.first { field in
            unsafe !isGood(field.name, nghttp2_check_header_name) || field.name.hasPrefix(":")
                || !isGood(field.value, nghttp2_check_header_value_rfc9113)
        }
        return field.map { "the header \(Log.quoted($0.name))" }
    }

    private func isGood(_ text: String, _ check: (UnsafePointer<UInt8>?, Int) -> Int32) -> Bool {
        var text = text
        return text.withUTF8 { unsafe check($0.baseAddress, $0.count) } != 0
    }
}
