import Glibc
import TestSupport

/// A client that sends exactly what a test says, right or wrong.
final class RawClient {
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    struct Answer {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
    }

    private let descriptor: Int32
    private var received: [UInt8] = []
    private var hasEnded = false

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            // Everything is set by now, so `deinit` closes the socket.
            throw Broken(description: "connect: \(String(cString: strerror(errno)))")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Ends the connection as a client does that goes away.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the connection with a reset when this object goes.
    func resetAtEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        try await eventually("the server takes what is sent") {
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
                if count > 0 {
                    rest.removeFirst(count)
                } else if errno == EAGAIN {
                    return false
                } else {
                    // The server has closed its side, which is what the test then looks for.
                    return true
                }
            }
            return true
        }
    }

    /// Everything that has come and was not taken as an answer.
    var text: String { String(decoding: received, as: UTF8.self) }

    /// Reads what is there.
    func poll() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !hasEnded {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received += buffer[..<count]
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                hasEnded = true
            } else {
                return
            }
        }
    }

    /// Waits for the next whole answer with a `Content-Length`.
    func answer(within limit: Duration = .seconds(30), hasBody: Bool = true) async throws -> Answer {
        var found: Answer?
        try await eventually(within: limit, "an answer comes") {
            poll()
            found = takeAnswer(hasBody: hasBody)
            if found == nil, hasEnded { throw Broken(description: "the connection ended, after: \(text)") }
            return found != nil
        }
        guard let found else { throw Broken(description: "no answer") }
        return found
    }

    /// Waits until some text has come.
    func wait(for text: String) async throws {
        try await eventually("\(text) comes") {
            poll()
            return self.text.contains(text)
        }
    }

    /// Waits for the connection's end and gives what came before it.
    func end(within limit: Duration = .seconds(30)) async throws -> String {
        try await eventually(within: limit, "the server closes the connection") {
            poll()
            return hasEnded
        }
        return text
    }

    private func takeAnswer(hasBody: Bool) -> Answer? {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        let count = hasBody && status >= 200 ? length : 0
        guard received.count >= end.upperBound + count else { return nil }
        let body = Array(received[end.upperBound..<end.upperBound + count])
        received.removeFirst(end.upperBound + count)
        return Answer(status: status, headers: headers, body: body)
    }
}
