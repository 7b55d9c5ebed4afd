import Foundation
import Glibc
import Runtime

/// A server that has its own way with whoever connects.
enum FakeServer {
    struct CannotListen: Error {}

    /// Says the same to everybody, whatever they ask.
    static func with<R>(saying words: String, _ body: (UInt16) async throws -> R) async throws -> R {
        try await with(
            serving: { client in
                _ = send(client, words, words.utf8.count, Int32(MSG_NOSIGNAL))
                var byte: UInt8 = 0
                // Until the other side has gone.
                while recv(client, &byte, 1, 0) > 0 {}
            }, body)
    }

    /// Answers one command after another, taking its time for each; texts with an asterisk in them confuse it.
    static func with<R>(answering words: String, after pause: Duration, _ body: (UInt16) async throws -> R) async throws
        -> R
    {
        try await with(
            serving: { client in
                var byte: UInt8 = 0
                while recv(client, &byte, 1, 0) > 0 {
                    guard byte == UInt8(ascii: "*") else { continue }
                    usleep(UInt32(pause.seconds * 1_000_000))
                    _ = send(client, words, words.utf8.count, Int32(MSG_NOSIGNAL))
                }
            }, body)
    }

    private static func with<R>(
        serving serve: @escaping @Sendable (Int32) -> Void, _ body: (UInt16) async throws -> R
    ) async throws -> R {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw CannotListen() }
        let thread = Thread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                serve(client)
                close(client)
            }
            close(listener)
        }
        thread.start()
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        return try await body(UInt16(bigEndian: address.sin_port))
    }
}
