import CNGHTTP2
import Crypto
import Glibc

/// Why a connection ended.
struct ConnectionEnd: Error {
    let reason: String
}

/// What a client and a server do differently with the frames of a connection.
protocol FrameHandler: AnyObject {
    /// A stream that the peer opened; `nil` refuses it.
    func makeStream(_ id: Int32) -> MessageStream?
    /// The stream's incoming message is complete.
    func ended(_ stream: MessageStream)
    /// The stream is gone from the connection.
    func closed(_ stream: MessageStream, code: UInt32)
    /// SETTINGS of the peer, an answered PING, or GOAWAY.
    func received(_ event: FrameConnection.Event)
}

/// HTTP/2 over TLS over one socket: the owner of the descriptor and of an `nghttp2_session *`.
///
/// It belongs to one thread, which waits for the socket and calls `receive()` and `flush()`.
@safe final class FrameConnection {
    enum Event {
        case settings
        case pong
        case goAway(reason: String)
    }

    private static let inputSize = 64 << 10
    /// How much is collected before it is written: some TLS records.
    private static let outputSize = 64 << 10
    /// After so many reads in a row it is time to look at something else.
    private static let maxReads = 16

    let fileDescriptor: Int32
    let tls: TLSStream
    weak var handler: (any FrameHandler)?
    private(set) var streams: [MessageStream] = []
    /// The socket took less than there was to write.
    private(set) var isBlocked = false
    /// There may be more to read that the socket does not tell of.
    private(set) var hasMoreInput = false
    private var session: OpaquePointer?
    private var headerBlock = HeaderBlock()
    private var output: [UInt8] = []
    private var outputOffset = 0
    private let input: UnsafeMutableRawBufferPointer

    /// Takes over the descriptor.
    init(isServer: Bool, fileDescriptor: Int32, tls: TLSStream) throws(ConnectionEnd) {
        self.fileDescriptor = fileDescriptor
        self.tls = tls
        unsafe input = .allocate(byteCount: Self.inputSize, alignment: 16)
        output.reserveCapacity(2 * Self.outputSize)
        unsafe session = FrameCallbacks.makeSession(isServer: isServer, owner: self)
        guard unsafe session != nil else { throw ConnectionEnd(reason: "out of memory") }
    }

    deinit {
        unsafe nghttp2_session_del(session)
        unsafe input.deallocate()
        close(fileDescriptor)
    }

    // MARK: Bytes

    /// What the descriptor is to be polled for.
    var pollEvents: Int16 { Int16(POLLIN) | (isBlocked ? Int16(POLLOUT) : 0) }

    /// Whether both sides have said all that they had to say.
    var isFinished: Bool {
        unsafe output.isEmpty && nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    /// Reads and handles what is there.
    ///
    /// Returns whether anything was.
    func receive() throws(ConnectionEnd) -> Bool {
        hasMoreInput = false
        guard unsafe session != nil else { throw ConnectionEnd(reason: "the connection has ended") }
        for round in 0..<Self.maxReads {
            let step: TLSStream.Step
            do { step = unsafe try tls.read(into: input) } catch { throw ConnectionEnd(reason: error.description) }
            switch step {
            case .moved(let count):
                unsafe try take(UnsafeRawBufferPointer(rebasing: input[..<count]))
            case .wantsRead, .wantsWrite: return round > 0
            case .closed: throw ConnectionEnd(reason: "the peer closed the connection")
            }
        }
        hasMoreInput = true
        return true
    }

    /// Handles what the peer has sent.
    func take(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        let used = unsafe nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
        guard used >= 0 else { throw ConnectionEnd(reason: "HTTP/2: \(Self.words(Int32(clamping: used)))") }
    }

    /// Writes what there is to write, as far as the socket takes it.
    func flush() throws(ConnectionEnd) {
        guard unsafe session != nil else { throw ConnectionEnd(reason: "the connection has ended") }
        while true {
            try collectOutput()
            guard !output.isEmpty else { break }
            guard try writeOutput() else {
                isBlocked = true
                return
            }
        }
        isBlocked = false
    }

    /// Takes from nghttp2 what is to be written, up to a limit.
    func collectOutput() throws(ConnectionEnd) {
        while output.count < Self.outputSize {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            guard count >= 0 else { throw ConnectionEnd(reason: "HTTP/2: \(Self.words(Int32(clamping: count)))") }
            guard count > 0 else { return }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    /// False if the socket takes no more.
    private func writeOutput() throws(ConnectionEnd) -> Bool {
        while outputOffset < output.count {
            let step: TLSStream.Step
            do {
                step = unsafe try output.withUnsafeBytes { bytes in
                    unsafe try tls.write(UnsafeRawBufferPointer(rebasing: bytes[outputOffset...]))
                }
            } catch { throw ConnectionEnd(reason: "\(error)") }
            switch step {
            case .moved(let count): outputOffset += count
            case .wantsRead, .wantsWrite: return false
            case .closed: throw ConnectionEnd(reason: "the peer closed the connection")
            }
        }
        output.removeAll(keepingCapacity: true)
        outputOffset = 0
        return true
    }

    // MARK: Frames to send

    func submitSettings(_ entries: [(id: nghttp2_settings_id, value: UInt32)]) {
        let entries = entries.map { nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: $0.value) }
        check(unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
    }

    /// How much the peer may send on the whole connection before we have read it.
    func setConnectionWindow(_ bytes: Int32) {
        check(unsafe nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes))
    }

    func submitPing() { check(unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)) }

    /// No stream above `lastStreamID` (default: the last one that was handled) will be answered.
    func submitGoAway(reason: [UInt8] = [], lastStreamID: Int32? = nil) {
        let last = unsafe lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session)
        check(
            unsafe nghttp2_submit_goaway(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, reason, reason.count))
    }

    func submitReset(_ stream: MessageStream, code: UInt32) {
        check(unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code))
    }

    /// Opens a stream for a request.
    ///
    /// Returns nghttp2's status: 0, or why the stream cannot be opened.
    func submitRequest(_ stream: MessageStream, _ fill: (inout HeaderBlock) -> Void) -> Int32 {
        let id = unsafe submit(stream, fill) { session, fields, count, body, stream in
            unsafe nghttp2_submit_request(session, nil, fields, count, body, stream)
        }
        guard id > 0 else { return id }
        stream.id = id
        add(stream)
        return 0
    }

    func submitResponse(_ stream: MessageStream, _ fill: (inout HeaderBlock) -> Void) {
        check(
            unsafe submit(stream, fill) { session, fields, count, body, _ in
                unsafe nghttp2_submit_response(session, stream.id, fields, count, body)
            })
    }

    private func submit(
        _ stream: MessageStream, _ fill: (inout HeaderBlock) -> Void,
        _ call: (
            OpaquePointer?, UnsafePointer<nghttp2_nv>?, Int, UnsafePointer<nghttp2_data_provider>?,
            UnsafeMutableRawPointer
        ) -> Int32
    ) -> Int32 {
        headerBlock.removeAll()
        fill(&headerBlock)
        // Unretained: `streams` keeps the stream until nghttp2 has closed it, and nghttp2 goes before `streams` does.
        let opaque = unsafe Unmanaged.passUnretained(stream).toOpaque()
        return unsafe headerBlock.withVector { fields, count in
            guard !stream.outgoingIsSent else { return unsafe call(session, fields, count, nil, opaque) }
            var provider = unsafe FrameCallbacks.bodyProvider(opaque)
            return unsafe call(session, fields, count, &provider, opaque)
        }
    }

    /// nghttp2 refuses these only without memory or for a stream or connection that ends already; then there is nothing
    /// left to be told to the peer.
    private func check(_ status: Int32) {
        precondition(status != NGHTTP2_ERR_NOMEM.rawValue, "out of memory")
    }

    // MARK: State

    /// How many streams the peer lets us have open at once.
    var peerMaxStreams: Int {
        Int(unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// False after GOAWAY, or when the numbers of streams are used up.
    var canOpenStreams: Bool { unsafe nghttp2_session_check_request_allowed(session) != 0 }

    func stream(_ id: Int32) -> MessageStream? {
        guard let opaque = unsafe nghttp2_session_get_stream_user_data(session, id) else { return nil }
        return unsafe Unmanaged<MessageStream>.fromOpaque(opaque).takeUnretainedValue()
    }

    private func add(_ stream: MessageStream) {
        stream.position = streams.count
        streams.append(stream)
    }

    /// Forgets the streams of a connection that has ended, and returns them.
    func takeStreams() -> [MessageStream] {
        unsafe nghttp2_session_del(session)
        unsafe session = nil
        defer { streams = [] }
        return streams
    }

    static func words(_ status: Int32) -> String { unsafe String(cString: nghttp2_strerror(status)) }

    static func words(code: UInt32) -> String { unsafe String(cString: nghttp2_http2_strerror(code)) }

    // MARK: What the callbacks call

    func peerOpened(_ id: Int32) -> Bool {
        guard let stream = handler?.makeStream(id) else { return false }
        stream.id = id
        unsafe nghttp2_session_set_stream_user_data(session, id, Unmanaged.passUnretained(stream).toOpaque())
        add(stream)
        return true
    }

    func received(_ bytes: UnsafeBufferPointer<UInt8>, on stream: MessageStream) {
        guard stream.failure == nil, unsafe !stream.appendBody(bytes) else { return }
        stream.failure = "the body has more than \(stream.maxBody) bytes"
        submitReset(stream, code: NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
    }

    func closed(_ id: Int32, code: UInt32) {
        guard let stream = stream(id) else { return }
        let last = streams.removeLast()
        if last !== stream {
            last.position = stream.position
            streams[stream.position] = last
        }
        handler?.closed(stream, code: code)
    }
}
