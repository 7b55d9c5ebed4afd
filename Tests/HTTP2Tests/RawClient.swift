import Crypto
import Foundation
import Runtime
import TestSupport
import Testing

@testable import HTTP2

/// Sends one request whose fields are not those that our client sends.
final class RawClient: FrameHandler {
    private var status: Int?

    /// Gives the status of the answer.
    static func send(to test: TestServer, alpn: [String]) async throws -> Int {
        let (port, caFile) = (test.server.port, test.caFile)
        let done = Locked<Result<Int, any Error>?>(nil)
        Thread.detachNewThread {
            let result = Result { try run(port: port, caFile: caFile, alpn: alpn) }
            done.withLock { $0 = result }
        }
        var result: Result<Int, any Error>?
        try await eventually("the raw client is done") {
            result = done.withLock { $0 }
            return result != nil
        }
        return try #require(result).get()
    }

    private static func run(port: UInt16, caFile: String, alpn: [String]) throws -> Int {
        let address = try SocketAddress.resolve("127.0.0.1", port: port, isNumeric: true).get()[0]
        let descriptor = try Socket.startConnecting(to: address, userTimeout: .seconds(30))
        let tls = try TLSStream(
            .client(caFile: caFile, alpn: alpn), connectedTo: "127.0.0.1", fileDescriptor: descriptor)
        let frames = try FrameConnection(isServer: false, fileDescriptor: descriptor, tls: tls)
        let client = RawClient()
        frames.handler = client
        var events = Int16(POLLOUT)
        func wait() {
            var polled = pollfd(fd: descriptor, events: events, revents: 0)
            poll(&polled, 1, 30_000)
        }
        wait()
        while case let step = try tls.handshake(), step != .moved(0) {
            events = Int16(step == .wantsWrite ? POLLOUT : POLLIN)
            wait()
        }
        frames.submitSettings([])
        let stream = MessageStream(outgoing: Array("{}".utf8), maxBody: 1000)
        _ = frames.submitRequest(stream) { block in
            block.append(":method", "POST")
            block.append(":scheme", "https")
            block.append(":path", "/3/device/00")
            block.append("host", "api.push.apple.com")
        }
        let end = monotonicSeconds() + 30
        while client.status == nil, monotonicSeconds() < end {
            try frames.flush()
            events = frames.pollEvents
            wait()
            _ = try frames.receive()
        }
        return client.status ?? 0
    }

    func makeStream(_ id: Int32) -> MessageStream? { nil }
    func ended(_ stream: MessageStream) { status = stream.pseudoHeader(":status").flatMap { Int($0) } }
    func closed(_ stream: MessageStream, code: UInt32) {}
    func received(_ event: FrameConnection.Event) {}
}
