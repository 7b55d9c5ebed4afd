import Glibc

/// One kept HTTP/1.1 connection, with at most one request on it.
final class WebhookConnection {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private(set) var isBusy = false

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(description: "nobody listens on port \(port)") }
        var noDelay: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// Requests are far smaller than a socket's buffer, so that they always go out whole.
    func send(_ request: [UInt8]) throws {
        guard Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw Failure(description: "a connection was closed")
        }
        isBusy = true
    }

    /// The answer's status, once it is here whole.
    func readAnswer() throws -> Int? {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw Failure(description: "the server closed a connection") }
        received += buffer[..<count]
        guard let length = wholeLength() else { return nil }
        guard received.count == length else { throw Failure(description: "more than one answer") }
        let status = received[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 }
        received.removeAll(keepingCapacity: true)
        isBusy = false
        return status
    }

    /// The length of the answer, if it is here whole.
    private func wholeLength() -> Int? {
        guard let end = Self.end(of: Array("\r\n\r\n".utf8), in: received[...]) else { return nil }
        guard let field = Self.end(of: Array("content-length:".utf8), in: received[..<end]) else { return nil }
        let digits = received[field...].drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
        let length = end + digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        return received.count >= length ? length : nil
    }

    /// Where `pattern`, in small letters, first ends in `bytes`, whatever the case of those.
    private static func end(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var matched = 0
        for index in bytes.indices {
            let byte = bytes[index]
            let small = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            // Neither pattern has its first byte again where this could overlook a match that begins inside another.
            matched = small == pattern[matched] ? matched + 1 : small == pattern[0] ? 1 : 0
            if matched == pattern.count { return index + 1 }
        }
        return nil
    }
}
