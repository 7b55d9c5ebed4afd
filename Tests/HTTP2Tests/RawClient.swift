import Crypto
import Foundation
import Runtime
import TestSupport
import Testing

@testable import HTTP2

/// Sends requests as our client does not: other fields, and in its own time.
final class RawClient: FrameHandler {
    private static let window: Int32 = 16 << 20

    private var statuses: [Int] = []

    /// Gives the status of the answer.
    static func send(to test: TestServer, alpn: [String]) async throws -> Int {
        try await send(1, to: test, alpn: alpn)[0]
    }

    /// Gives the statuses of the answers.
    ///
    /// - Parameters:
    ///   - pause: Called once the requests are sent. Nothing is read before it returns; what it returns is sent then, as it
    ///     is.
    ///   - goesOn: Whether that is sent over and over, and nothing read before this has failed or gone on for long.
    static func send(
        _ count: Int, to test: TestServer, alpn: [String], goesOn: Bool = false,
        pause: (@Sendable () -> [UInt8])? = nil
    ) async throws -> [Int] {
        let (port, caFile) = (test.server.port, test.caFile)
        let done = Locked<Result<[Int], any Error>?>(nil)
        Thread.detachNewThread {
            blockBrokenPipeSignal()
            let result = Result { try run(count, port: port, caFile: caFile, alpn: alpn, goesOn: goesOn, pause: pause) }
            done.withLock { $0 = result }
        }
        var result: Result<[Int], any Error>?
        try await eventually("the raw client is done") {
            result = done.withLock { $0 }
            return result != nil
        }
        return try #require(result).get()
    }

    private static func run(
        _ count: Int, port: UInt16, caFile: String, alpn: [String], goesOn: Bool, pause: (@Sendable () -> [UInt8])?
    ) throws -> [Int] {
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
        frames.setConnectionWindow(window)
        for _ in 0..<count {
            let stream = MessageStream(outgoing: Array("{}".utf8), maxBody: 1 << 16)
            _ = frames.submitRequest(stream) { block in
                block.append(":method", "POST")
                block.append(":scheme", "https")
                block.append(":path", "/3/device/00")
                block.append("host", "api.push.apple.com")
            }
        }
        let end = monotonicSeconds() + 30
        if let pause {
            try frames.flush()
            let more = pause()
            repeat { _ = try more.withUnsafeBytes { try tls.write($0) } } while goesOn && monotonicSeconds() < end
        }
        while client.statuses.count < count, monotonicSeconds() < end {
            try frames.flush()
            events = frames.pollEvents
            wait()
            // The answers, and the end right after them.
            do { _ = try frames.receive() } catch  where client.statuses.count < count { throw error } catch {}
        }
        return client.statuses
    }

    func makeStream(_ id: Int32) -> MessageStream? { nil }
    func ended(_ stream: MessageStream) { statuses.append(stream.pseudoHeader(":status").flatMap { Int($0) } ?? 0) }
    func closed(_ stream: MessageStream, code: UInt32) {}
    func received(_ event: FrameConnection.Event) {}
}
