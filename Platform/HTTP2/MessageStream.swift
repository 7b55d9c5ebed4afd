/// One request and its response on a connection.
///
/// It belongs to the connection's thread.
class MessageStream {
    static let maxHeaderBytes = 16 << 10

    var id: Int32 = 0
    /// Where this stream stands in its connection's list.
    var position = 0
    /// The fields of the message that comes in whose names start with a colon.
    private(set) var pseudoHeaders: [(name: String, value: String)] = []
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    /// The message that comes in is complete.
    var hasEnded = false
    /// The head of the message that goes out has left nghttp2.
    var isSent = false
    /// Why we reset the stream ourselves.
    var failure: String?
    let maxBody: Int
    private var headerBytes = 0
    private var outgoing: [UInt8]
    private var outgoingOffset = 0

    init(outgoing: [UInt8], maxBody: Int) {
        self.outgoing = outgoing
        self.maxBody = maxBody
    }

    var outgoingIsSent: Bool { outgoingOffset == outgoing.count }

    func pseudoHeader(_ name: String) -> String? { pseudoHeaders.first { $0.name == name }?.value }

    /// Sets what is to go out.
    ///
    /// Not while something is going out.
    func setOutgoing(_ body: [UInt8]) {
        outgoing = body
        outgoingOffset = 0
    }

    /// Copies the next part of the body that goes out; true with the last one.
    func readOutgoing(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let count = min(buffer.count, outgoing.count - outgoingOffset)
        unsafe buffer.copyBytes(from: outgoing[outgoingOffset..<outgoingOffset + count])
        outgoingOffset += count
        return (count, outgoingIsSent)
    }

    /// False if the headers are too large.
    func appendHeader(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += name.count + value.count + 32
        guard headerBytes <= Self.maxHeaderBytes else { return false }
        let field = unsafe (name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        guard unsafe name.first == UInt8(ascii: ":") else {
            headers.append(field)
            return true
        }
        if field.name == ":status" {
            // What came before was an interim response (1xx).
            pseudoHeaders.removeAll()
            headers.removeAll()
        }
        pseudoHeaders.append(field)
        return true
    }

    /// False if the body is too large.
    func appendBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard body.count + bytes.count <= maxBody else { return false }
        unsafe body.append(contentsOf: bytes)
        return true
    }
}
