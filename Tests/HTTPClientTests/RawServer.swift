import Foundation
import Glibc
import Runtime

/// A server that does with its connections exactly what a test says.
final class RawServer: Sendable {
    /// What is done with one connection, on a thread of its own; it is closed afterwards.
    typealias Script = @Sendable (Int32) -> Void

    let port: UInt16
    private let descriptor: Int32
    private let accepted = Locked(0)

    /// How many connections there have been.
    var connections: Int { accepted.withLock { $0 } }

    init(_ script: @escaping Script) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        // This thread closes what it accepts from: closed by another, the number could be that of the next server by the
        // time it is asked again, whose connections would then be taken here.
        Thread { [accepted] in
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                accepted.withLock { $0 += 1 }
                Thread {
                    script(connection)
                    close(connection)
                }.start()
            }
        }.start()
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads a request whose body, if it has one, ends with `end`; false if the client ends the connection first.
    @discardableResult
    static func readRequest(_ connection: Int32, upTo end: String = "\r\n\r\n") -> Bool {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.contains(end) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return true
    }

    static func write(_ connection: Int32, _ text: String) {
        _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// Makes the close of a connection a reset.
    static func resetAtClose(_ connection: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until the client ends the connection.
    static func waitForEnd(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
    }
}
