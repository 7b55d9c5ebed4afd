import CNGHTTP2
import Crypto
import Glibc
import Runtime

/// A client's connection to our server.
///
/// It belongs to the server's thread.
final class ServerConnection {
    typealias Handler = @Sendable (HTTP2ServerRequest, HTTP2ServerResponder) -> Void

    private enum Stage {
        case handshaking(wait: Int16)
        case open
        /// All is said, and the client may go on to send until then, in monotonic seconds.
        case leaving(until: Double)
        case ended(reason: String)
    }

    /// How long a client that has got everything may keep the connection, in seconds.
    private static let longestGoodbye = 2.0

    let id: Int
    private let frames: FrameConnection
    private let settings: HTTP2ServerSettings
    private let handler: Handler
    private let post: @Sendable (ServerCommand) -> Void
    private let acceptedAt: Double
    private var stage = Stage.handshaking(wait: Int16(POLLIN))

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
    var hasMoreInput: Bool { isOpen && frames.hasMoreInput }

    /// Why it ended, once it has.
    var endReason: String? {
        guard case .ended(let reason) = stage else { return nil }
        return reason
    }

    private var isOpen: Bool {
        guard case .open = stage else { return false }
        return true
    }

    var pollEvents: Int16 {
        switch stage {
        case .handshaking(let wait): wait
        case .open: frames.pollEvents
        case .leaving, .ended: Int16(POLLIN)
        }
    }

    /// When it has taken too long to begin or to end, in monotonic seconds.
    var deadline: Double {
        switch stage {
        case .handshaking: acceptedAt + settings.handshakeTimeout.seconds
        case .leaving(let until): until
        case .open, .ended: .infinity
        }
    }

    func deadlinePassed() {
        guard case .handshaking = stage else { return end("closed; the client did not") }
        end("no TLS handshake within \(settings.handshakeTimeout)")
    }

    /// The socket is readable or writable, or may be.
    func advance(maxConcurrentStreams: UInt32) {
        do {
            if case .handshaking = stage { try handshake(maxConcurrentStreams) }
            switch stage {
            case .open: _ = try frames.receive()
            case .leaving: if !Socket.discardInput(fileDescriptor) { end("closed") }
            case .handshaking, .ended: break
            }
        } catch { end("\((error as? ConnectionEnd)?.reason ?? "\(error)")") }
    }

    private func handshake(_ maxConcurrentStreams: UInt32) throws {
        switch try frames.tls.handshake() {
        case .wantsRead: stage = .handshaking(wait: Int16(POLLIN))
        case .wantsWrite: stage = .handshaking(wait: Int16(POLLOUT))
        case .closed: throw ConnectionEnd(reason: "the client closed the connection during the TLS handshake")
        case .moved:
            // Who offers no protocol at all is taken at their first bytes, which tell HTTP/2 as well.
            guard [nil, "h2"].contains(frames.tls.negotiatedProtocol) else {
                throw ConnectionEnd(reason: "the client does not speak HTTP/2 (ALPN)")
            }
            stage = .open
            frames.submitSettings([
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindowSize),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(MessageStream.maxHeaderBytes)),
            ])
        }
    }

    /// Writes what was submitted, and begins to end a connection that is over.
    func flush() {
        guard isOpen else { return }
        do { try frames.flush() } catch { return end(error.reason) }
        if frames.isFinished { leave() }
    }

    /// Ends our half, and lets the client end its own: to close a socket on which there is something unread resets it,
    /// and takes the answers along that the client has not read yet.
    private func leave() {
        frames.tls.sendCloseNotify()
        shutdown(fileDescriptor, Int32(SHUT_WR))
        stage = .leaving(until: monotonicSeconds() + Self.longestGoodbye)
    }

    func perform(_ action: ServerCommand.Action, on streamID: Int32) {
        guard isOpen, let stream = frames.stream(streamID) else { return }
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
        guard isOpen else { return }
        frames.submitGoAway(reason: reason, lastStreamID: lastStreamID)
    }

    func setMaxConcurrentStreams(_ count: UInt32) {
        guard isOpen else { return }
        frames.submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)])
    }

    /// Says goodbye, and does not wait for the client.
    func close() {
        guard endReason == nil else { return }
        if isOpen { frames.tls.sendCloseNotify() }
        end("closed")
    }

    func end(_ reason: String) {
        guard endReason == nil else { return }
        stage = .ended(reason: reason)
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
