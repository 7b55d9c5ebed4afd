import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

/// Both ends of a TLS connection over a socket pair, driven by turns.
private final class Pair {
    let client: TLSStream
    let server: TLSStream
    private let descriptors: [Int32]

    init(client clientContext: TLSContext, server serverContext: TLSContext, host: String) throws {
        var descriptors: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &descriptors) == 0)
        self.descriptors = descriptors
        client = try TLSStream(clientContext, connectedTo: host, fileDescriptor: descriptors[0])
        server = try TLSStream(serverContext, acceptedOn: descriptors[1])
    }

    deinit { descriptors.forEach { close($0) } }

    func closeClient() { shutdown(descriptors[0], Int32(SHUT_RDWR)) }

    func handshake() throws {
        var done = (client: false, server: false)
        for _ in 0..<20 where !(done.client && done.server) {
            if !done.client { done.client = try client.handshake() == .moved(0) }
            if !done.server { done.server = try server.handshake() == .moved(0) }
        }
        try #require(done.client && done.server)
    }
}

@Suite struct TLSStreamTests {
    private func with(
        host: String = "localhost", offer: [String] = ["h2"], accept: [String] = ["h2"], caFile: String? = nil,
        _ body: (Pair) throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(
                to: directory, commonName: "x", dnsNames: ["localhost", "*.apns.test"], ipAddresses: ["127.0.0.1"])
            let client = try TLSContext.client(caFile: caFile ?? files.caFile, alpn: offer)
            let server = try TLSContext.server(
                certificateFile: files.certificateFile, keyFile: files.keyFile, alpn: accept)
            try body(try Pair(client: client, server: server, host: host))
        }
    }

    @Test func `bytes pass both ways, more than fits at once too`() async throws {
        try await with { pair in
            try pair.handshake()
            #expect(pair.client.negotiatedProtocol == "h2")
            #expect(pair.server.negotiatedProtocol == "h2")
            #expect(pair.client.version == "TLSv1.3")
            let sent = RandomBytes.make(500_000)
            var offset = 0
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 40_000)
            while received.count < sent.count {
                if offset < sent.count,
                    case .moved(let count) = try sent.withUnsafeBytes({
                        try pair.server.write(.init(rebasing: $0[offset...]))
                    })
                {
                    offset += count
                }
                if case .moved(let count) = try buffer.withUnsafeMutableBytes({ try pair.client.read(into: $0) }) {
                    received += buffer.prefix(count)
                }
            }
            #expect(received == sent)
            #expect(try buffer.withUnsafeMutableBytes { try pair.client.read(into: $0) } == .wantsRead)
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1", "a.apns.test"]) func `a name in the certificate is trusted`(
        host: String
    ) async throws {
        try await with(host: host) { try $0.handshake() }
    }

    @Test(arguments: ["example.com", "127.0.0.2", "a.b.apns.test", "localhost.example.com"])
    func `a name that is not in the certificate is refused`(host: String) async throws {
        try await with(host: host) { pair in
            let error = #expect(throws: TLSError.self) { try pair.handshake() }
            #expect(error?.operation == "handshake")
            #expect(error?.words.contains("mismatch") == true)
        }
    }

    @Test func `an authority that we do not trust is refused`() async throws {
        try await with(caFile: "/etc/ssl/certs/ca-certificates.crt") { pair in
            let error = #expect(throws: TLSError.self) { try pair.handshake() }
            #expect(error?.words.contains("certificate verify failed") == true)
        }
    }

    @Test func `no protocol in common is refused, no offer is accepted`() async throws {
        try await with(offer: ["http/1.1"], accept: ["h2"]) { pair in
            #expect(throws: TLSError.self) { try pair.handshake() }
        }
        try await with(offer: [], accept: ["h2"]) { pair in
            try pair.handshake()
            #expect(pair.client.negotiatedProtocol == nil)
        }
        try await with(offer: ["x", "h2"], accept: ["h2", "x"]) { pair in
            try pair.handshake()
            #expect(pair.server.negotiatedProtocol == "h2")
        }
    }

    @Test func `the end of a connection is seen, with and without a goodbye`() async throws {
        for polite in [true, false] {
            try await with { pair in
                try pair.handshake()
                if polite { pair.client.sendCloseNotify() } else { pair.closeClient() }
                var buffer = [UInt8](repeating: 0, count: 100)
                #expect(try buffer.withUnsafeMutableBytes { try pair.server.read(into: $0) } == .closed)
            }
        }
    }

    @Test func `what is no TLS is an error`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(to: directory, commonName: "x", dnsNames: [], ipAddresses: [])
            let context = try TLSContext.server(
                certificateFile: files.certificateFile, keyFile: files.keyFile, alpn: [])
            var descriptors: [Int32] = [-1, -1]
            try #require(
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &descriptors) == 0)
            defer { descriptors.forEach { close($0) } }
            let server = try TLSStream(context, acceptedOn: descriptors[1])
            let text = "GET / HTTP/1.1\r\n\r\n"
            #expect(Glibc.write(descriptors[0], text, text.utf8.count) == text.utf8.count)
            #expect(throws: TLSError.self) { try server.handshake() }
        }
    }

    @Test func `files that are missing or do not belong together are refused`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(to: directory, commonName: "x", dnsNames: [], ipAddresses: [])
            #expect(throws: TLSError.self) { try TLSContext.client(caFile: "\(directory)/none", alpn: []) }
            #expect(throws: TLSError.self) { try TLSContext.client(caFile: files.keyFile, alpn: []) }
            #expect(throws: TLSError.self) {
                try TLSContext.server(certificateFile: files.caFile, keyFile: files.keyFile, alpn: [])
            }
            #expect(throws: TLSError.self) {
                try TLSContext.server(certificateFile: "\(directory)/none", keyFile: files.keyFile, alpn: [])
            }
        }
    }

    @Test func `TLS below 1.2 is refused`() async throws {
        try await TemporaryDirectory.with { directory in
            let files = try SelfSignedCertificate.write(
                to: directory, commonName: "x", dnsNames: [], ipAddresses: ["127.0.0.1"])
            let context = try TLSContext.server(
                certificateFile: files.certificateFile, keyFile: files.keyFile, alpn: [])
            let port = try freePort()
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(bound == 0 && listen(listener, 4) == 0)
            let process = try LocalProcess.start(
                "/usr/bin/openssl",
                ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
                environment: [:], logFile: "\(directory)/log")
            defer { process.kill() }
            var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            try #require(poll(&polled, 1, 10_000) == 1)
            let descriptor = accept(listener, nil, nil)
            defer { close(descriptor) }
            // Blocking, so one call sees the whole first message.
            let server = try TLSStream(context, acceptedOn: descriptor)
            let error = #expect(throws: TLSError.self) { try server.handshake() }
            #expect(error?.words.contains("unsupported protocol") == true, "\(error?.words ?? "")")
        }
    }
}
