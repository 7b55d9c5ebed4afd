import CNGHTTP2
import Crypto
import Glibc
import Runtime

/// One connection to one address, from `connect` to its end.
///
/// It belongs to the client connection's thread.
final class ClientSession {
    enum Stage: Equatable {
        case connecting, handshaking
        /// Waiting for the server's SETTINGS, so that its limit of streams holds from the first one.
        case settling
        case ready
        /// After GOAWAY: no new streams, the open ones may still be answered.
        case draining
        case ended(String)
    }

    /// A connection that lived as long as this was good, even if nobody used it.
    private static let goodAge = 10.0
    private static let streamWindow: UInt32 = 256 << 10
    private static let connectionWindow: Int32 = 1 << 20

    private let frames: FrameConnection
    private let options: HTTP2ClientOptions
    private let authority: String
    private let createdAt: Double
    private(set) var stage = Stage.connecting
    /// Until when the server's certificate holds, in seconds since 1970.
    var certificateNotAfter: Int64? { frames.tls.peerNotAfter }
    private(set) var goAwayReason: String?
    private var handshakeWait = Int16(POLLOUT)
    private var lastReceived: Double
    private var pingSentAt: Double?
    private var hasSucceeded = false
    private var hasAnswered = false
    /// No open stream's deadline is earlier; the true one may be later.
    private var earliestDeadline = Double.infinity

    convenience init(
        address: SocketAddress, host: String, authority: String, tls: TLSContext, options: HTTP2ClientOptions
    ) throws(ConnectionEnd) {
        let descriptor = try Socket.startConnecting(to: address, userTimeout: options.pingTimeout)
        let stream: TLSStream
        do { stream = try TLSStream(tls, connectedTo: host, fileDescriptor: descriptor) } catch {
            Glibc.close(descriptor)
            throw ConnectionEnd(reason: error.description)
        }
        self.init(
            try FrameConnection(isServer: false, fileDescriptor: descriptor, tls: stream), authority: authority,
            options: options)
    }

    init(_ frames: FrameConnection, authority: String, options: HTTP2ClientOptions) {
        self.frames = frames
        self.options = options
        self.authority = authority
        createdAt = monotonicSeconds()
        lastReceived = createdAt
        frames.handler = self
    }

    // MARK: What the thread asks

    var fileDescriptor: Int32 { frames.fileDescriptor }
    var openStreams: Int { frames.streams.count }
    var hasMoreInput: Bool { frames.hasMoreInput }

    var pollEvents: Int16 {
        switch stage {
        case .connecting: Int16(POLLOUT)
        case .handshaking: handshakeWait
        case .settling, .ready, .draining, .ended: frames.pollEvents
        }
    }

    /// Whether this connection was of any use; if not, the next attempt waits a little.
    func wasGood(at now: Double) -> Bool { hasAnswered || stage != .connecting && now - createdAt >= Self.goodAge }

    /// How many more requests can be opened now.
    var freeStreams: Int {
        guard stage == .ready else { return 0 }
        let limit = options.startsWithOneStream && !hasSucceeded ? 1 : options.maxConcurrentStreams
        return max(0, min(limit, frames.peerMaxStreams) - frames.streams.count)
    }

    /// When `tick` has something to do next, in monotonic seconds.
    var nextDeadline: Double {
        switch stage {
        case .connecting, .handshaking, .settling: createdAt + options.connectTimeout.seconds
        case .ready, .draining: min(pingDeadline, earliestDeadline)
        case .ended: 0
        }
    }

    private var pingDeadline: Double {
        pingSentAt.map { $0 + options.pingTimeout.seconds } ?? lastReceived + options.pingAfterIdle.seconds
    }

    // MARK: What the thread tells

    /// The socket is readable or writable, or may be.
    func advance(at now: Double) {
        if case .ended = stage { return }
        do {
            if stage == .connecting {
                if let reason = Socket.takeError(fileDescriptor) { throw ConnectionEnd(reason: reason) }
                stage = .handshaking
            }
            if stage == .handshaking { try handshake() }
            guard stage != .handshaking else { return }
            if try frames.receive() { lastReceived = now }
            guard !frames.isFinished else {
                throw ConnectionEnd(reason: goAwayReason.map { "GOAWAY: \($0)" } ?? "the connection is finished")
            }
        } catch { end("\((error as? ConnectionEnd)?.reason ?? "\(error)")") }
    }

    private func handshake() throws {
        switch try frames.tls.handshake() {
        case .wantsRead: handshakeWait = Int16(POLLIN)
        case .wantsWrite: handshakeWait = Int16(POLLOUT)
        case .closed: throw ConnectionEnd(reason: "the server closed the connection during the TLS handshake")
        case .moved:
            guard frames.tls.negotiatedProtocol == "h2" else {
                throw ConnectionEnd(reason: "the server does not speak HTTP/2 (ALPN)")
            }
            begin()
        }
    }

    /// The way to the server is open: HTTP/2 begins.
    func begin() {
        frames.submitSettings([
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0), (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Self.streamWindow),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(MessageStream.maxHeaderBytes)),
        ])
        frames.setConnectionWindow(Self.connectionWindow)
        stage = .settling
    }

    /// Writes what was submitted.
    func flush() {
        guard stage == .settling || stage == .ready || stage == .draining else { return }
        do { try frames.flush() } catch {
            // A server that closed without waiting for us may have answered before.
            do { while try frames.receive() {} } catch {}
            end(error.reason)
        }
    }

    /// Opens a stream.
    ///
    /// Only while `freeStreams` is not 0. False if the connection takes no more requests.
    func open(_ pending: PendingRequest, at now: Double) -> Bool {
        guard frames.canOpenStreams else {
            stage = .draining
            return false
        }
        let stream = ClientStream(pending, startedAt: now, maxBody: options.maxResponseBody)
        let status = frames.submitRequest(stream) { block in
            block.append(":method", pending.request.method)
            block.append(":scheme", "https")
            block.append(":authority", authority)
            block.append(":path", pending.request.path)
            for (name, value) in pending.request.headers {
                block.append(name, value, isNeverIndexed: options.neverIndexed.contains(name))
            }
        }
        if status != 0 { stream.fail("nghttp2: \(FrameConnection.words(status))") }
        earliestDeadline = min(earliestDeadline, pending.deadline)
        return true
    }

    /// Ends what took too long, and sends a PING when it is time.
    func tick(at now: Double) {
        switch stage {
        case .connecting, .handshaking, .settling:
            if now >= nextDeadline { end("no connection within \(options.connectTimeout)") }
        case .ready, .draining:
            if now >= earliestDeadline { expireStreams(at: now) }
            guard now >= pingDeadline else { break }
            if pingSentAt == nil { ping(at: now) } else { end("no answer to a PING within \(options.pingTimeout)") }
        case .ended: break
        }
    }

    private func expireStreams(at now: Double) {
        earliestDeadline = .infinity
        for case let stream as ClientStream in frames.streams where !stream.isCompleted {
            guard now >= stream.deadline else {
                earliestDeadline = min(earliestDeadline, stream.deadline)
                continue
            }
            // If nothing at all came since it was sent, the whole connection may be dead: find out.
            if lastReceived <= stream.startedAt, pingSentAt == nil { ping(at: now) }
            frames.submitReset(stream, code: NGHTTP2_CANCEL.rawValue)
            stream.fail("no response in time")
        }
    }

    private func ping(at now: Double) {
        pingSentAt = now
        frames.submitPing()
    }

    /// Says goodbye to a server that we have no open streams with.
    func close() {
        guard stage == .ready || stage == .draining else { return end("the client is closed") }
        frames.submitGoAway()
        flush()
        frames.tls.sendCloseNotify()
        end("the client is closed")
    }

    /// Ends the connection; its streams end without an answer.
    func end(_ reason: String) {
        if case .ended = stage { return }
        stage = .ended(reason)
        for case let stream as ClientStream in frames.takeStreams() { stream.fail(reason) }
    }
}

extension ClientSession: FrameHandler {
    /// A server opens no streams: we forbid it to push.
    func makeStream(_ id: Int32) -> MessageStream? { nil }

    func received(_ event: FrameConnection.Event) {
        switch event {
        case .settings: if stage == .settling { stage = .ready }
        case .pong: pingSentAt = nil
        case .goAway(let reason):
            goAwayReason = reason
            stage = .draining
        }
    }

    func ended(_ stream: MessageStream) {
        // An answer before the end of the request: the rest of the request is of no use to anybody.
        if !stream.outgoingIsSent { frames.submitReset(stream, code: NGHTTP2_CANCEL.rawValue) }
    }

    func closed(_ stream: MessageStream, code: UInt32) {
        guard let stream = stream as? ClientStream, !stream.isCompleted else { return }
        if let response = stream.response, stream.failure == nil {
            hasAnswered = true
            if (200..<300).contains(response.status) { hasSucceeded = true }
            if stage == .ready, options.isLast(response) {
                goAwayReason = "the answer \(response.status)"
                stage = .draining
            }
            return stream.complete(.success(response))
        }
        // Streams above GOAWAY's last one are closed by nghttp2 with the same code.
        let refused = code == NGHTTP2_REFUSED_STREAM.rawValue
        let reason =
            stream.failure ?? goAwayReason.map { "GOAWAY: \($0)" } ?? "reset: \(FrameConnection.words(code: code))"
        stream.fail(reason, ifSent: refused ? .notProcessed : .unknown)
    }
}
