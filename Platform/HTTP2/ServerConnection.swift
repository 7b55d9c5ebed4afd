import CNGHTTP2
import Crypto
import Glibc
import Runtime

/// A client's connection to our server.
///
/// It belongs to the server's thread.
final class ServerConnection {
    typealias Handler = @Sendable (HTTP2ServerRequest, HTTP2ServerResponder) -> Void

    let id: Int
    /// Why it ended, once it has.
    private(set) var endReason: String?
    private let frames: FrameConnection
    private let settings: HTTP2ServerSettings
    private let handler: Handler
    private let post: @Sendable (ServerCommand) -> Void
    private static let longestGoodbye = 2.0

    private let acceptedAt: Double
    private var isHandshaking = true
    /// Until when the client may go on to send, in monotonic seconds, after all is said.
    private var leavesAt: Double?
    private var handshakeWait = Int16(POLLIN)

    /// Takes over the descriptor.
    init(
        id: Int, fileDescriptor: Int32, tls: TLSContext, settings: HTTP2ServerSettings,
        post: @escaping @Sendable (ServerCommand) -> Void, handler: @escaping Handler
    ) throws(ConnectionEnd) {
        let stream: TLSStream
        do { stream = try TLSStream(tls, acceptedOn: fileDescriptor) } catch {
            Glibc.close(fileDescriptor)
            throw ConnectionEnd(reason: error.description)
        }
        frames = try FrameConnection(isServer: true, fileDescriptor: fileDescriptor, tls: stream)
        self.id = id
        self.settings = settings
        self.post = post
        self.handler = handler
        acceptedAt = monotonicSeconds()
        frames.handler = self
    }

    var fileDescriptor: Int32 { frames.fileDescriptor }
    var pollEvents: Int16 {
        if leavesAt != nil { return Int16(POLLIN) }
        return isHandshaking ? handshakeWait : frames.pollEvents
    }
    var hasMoreInput: Bool { leavesAt == nil && frames.hasMoreInput }

    /// When it has taken too long to begin or to end, in monotonic seconds.
    var deadline: Double {
        if let leavesAt { return leavesAt }
        return isHandshaking ? acceptedAt + settings.handshakeTimeout.seconds : .infinity
    }

    func deadlinePassed() {
        end(isHandshaking ? "no TLS handshake within \(settings.handshakeTimeout)" : "closed; the client did not")
    }

    /// The socket is readable or writable, or may be.
    func advance(maxConcurrentStreams: UInt32) {
        guard leavesAt == nil else {
            if !Socket.discardInput(fileDescriptor) { end("closed") }
            return
        }
        do {
            if isHandshaking { try handshake(maxConcurrentStreams) }
            guard !isHandshaking else { return }
            _ = try frames.receive()
        } catch { end("\((error as? ConnectionEnd)?.reason ?? "\(error)")") }
    }

    private func handshake(_ maxConcurrentStreams: UInt32) throws {
        switch try frames.tls.handshake() {
        case .wantsRead: handshakeWait = Int16(POLLIN)
        case .wantsWrite: handshakeWait = Int16(POLLOUT)
        case .closed: throw ConnectionEnd(reason: "the client closed the connection during the TLS handshake")
        case .moved:
            // Who offers no protocol at all is taken at their first bytes, which tell HTTP/2 as well.
            guard [nil, "h2"].contains(frames.tls.negotiatedProtocol) else {
                throw ConnectionEnd(reason: "the client does not speak HTTP/2 (ALPN)")
            }
            isHandshaking = false
            frames.submitSettings([
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindowSize),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(MessageStream.maxHeaderBytes)),
            ])
        }
    }

    /// Writes what was submitted, and begins to end a connection that is over.
    func flush() {
        guard endReason == nil, !isHandshaking, leavesAt == nil else { return }
        do { try frames.flush() } catch { return end(error.reason) }
        if frames.isFinished { leave() }
    }

    /// Ends our half, and lets the client end its own: to close a socket on which there is something unread resets it,
    /// and takes the answers along that the client has not read yet.
    private func leave() {
        frames.tls.sendCloseNotify()
        shutdown(fileDescriptor, Int32(SHUT_WR))
        leavesAt = monotonicSeconds() + Self.longestGoodbye
    }

    func perform(_ action: ServerCommand.Action, on streamID: Int32) {
        guard endReason == nil, leavesAt == nil, let stream = frames.stream(streamID) else { return }
        switch action {
        case .reset(let code): frames.submitReset(stream, code: code)
        case .respond(let answer):
            stream.setOutgoing(answer.body)
            frames.submitResponse(stream) { block in
                block.append(":status", "\(answer.status)")
                for (name, value) in answer.headers { block.append(name, value) }
            }
        }
    }

    func goAway(reason: [UInt8], lastStreamID: Int32?) {
        guard endReason == nil, !isHandshaking, leavesAt == nil else { return }
        frames.submitGoAway(reason: reason, lastStreamID: lastStreamID)
    }

    func setMaxConcurrentStreams(_ count: UInt32) {
        guard endReason == nil, !isHandshaking, leavesAt == nil else { return }
        frames.submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)])
    }

    /// Says goodbye, and does not wait for the client.
    func close() {
        guard endReason == nil else { return }
        if !isHandshaking { frames.tls.sendCloseNotify() }
        end("closed")
    }

    func end(_ reason: String) {
        guard endReason == nil else { return }
        endReason = reason
        _ = frames.takeStreams()
    }
}

extension ServerConnection: FrameHandler {
    func makeStream(_ id: Int32) -> MessageStream? { MessageStream(outgoing: [], maxBody: settings.maxBody) }

    func received(_ event: FrameConnection.Event) {}

    func closed(_ stream: MessageStream, code: UInt32) {}

    func ended(_ stream: MessageStream) {
        let request = HTTP2ServerRequest(
            connectionID: id, streamID: stream.id, method: stream.pseudoHeader(":method") ?? "",
            path: stream.pseudoHeader(":path") ?? "",
            authority: stream.pseudoHeader(":authority") ?? stream.headers.first { $0.name == "host" }?.value ?? "",
            headers: stream.headers, body: stream.body)
        handler(request, HTTP2ServerResponder(connectionID: id, streamID: stream.id, post: post))
    }
}
