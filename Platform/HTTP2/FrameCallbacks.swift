import CNGHTTP2

/// The functions that nghttp2 calls.
///
/// Each finds the connection that it is for, copies, hands over and returns.
enum FrameCallbacks {
    /// A session that calls `owner` until it is deleted, which `owner` does before it goes itself.
    static func makeSession(isServer: Bool, owner: FrameConnection) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
        return unsafe isthmus_nghttp2_session(isServer ? 1 : 0, callbacks, Unmanaged.passUnretained(owner).toOpaque())
    }

    static func bodyProvider(_ stream: UnsafeMutableRawPointer) -> nghttp2_data_provider {
        unsafe nghttp2_data_provider(source: nghttp2_data_source(ptr: stream), read_callback: readBody)
    }
}

private func connection(_ owner: UnsafeMutableRawPointer?) -> FrameConnection? {
    guard let owner = unsafe owner else { return nil }
    return unsafe Unmanaged<FrameConnection>.fromOpaque(owner).takeUnretainedValue()
}

private func onBeginHeaders(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, let connection = unsafe connection(owner) else { return 0 }
    let id = unsafe isthmus_frame_header(frame).stream_id
    guard connection.stream(id) == nil else { return 0 }  // A response, or trailers.
    return connection.peerOpened(id) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private func onHeader(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, let connection = unsafe connection(owner),
        let stream = connection.stream(unsafe isthmus_frame_header(frame).stream_id)
    else { return 0 }
    let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
    guard unsafe stream.appendHeader(name, UnsafeBufferPointer(start: value, count: valueCount)) else {
        stream.failure = "the headers have more than \(MessageStream.maxHeaderBytes) bytes"
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    return 0
}

private func onData(
    _: OpaquePointer?, _: UInt8, _ id: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connection = unsafe connection(owner), let stream = connection.stream(id) else { return 0 }
    unsafe connection.received(UnsafeBufferPointer(start: bytes, count: count), on: stream)
    return 0
}

private func onFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, let connection = unsafe connection(owner) else { return 0 }
    let header = unsafe isthmus_frame_header(frame)
    let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch nghttp2_frame_type(UInt32(header.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
        guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
            let stream = connection.stream(header.stream_id)
        else { break }
        stream.hasEnded = true
        connection.handler?.ended(stream)
    case NGHTTP2_SETTINGS where !isAcknowledgement: connection.handler?.received(.settings)
    case NGHTTP2_PING where isAcknowledgement: connection.handler?.received(.pong)
    case NGHTTP2_GOAWAY:
        guard let goAway = unsafe isthmus_frame_goaway(frame) else { break }
        let text = unsafe UnsafeBufferPointer(start: goAway.pointee.opaque_data, count: goAway.pointee.opaque_data_len)
        let code = unsafe FrameConnection.words(code: goAway.pointee.error_code)
        let words = unsafe String(decoding: text.prefix(256), as: UTF8.self)
        connection.handler?.received(.goAway(reason: words.isEmpty ? code : "\(code): \(words)"))
    default: break
    }
    return 0
}

private func onFrameSent(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let header = unsafe isthmus_frame_header(frame)
    if nghttp2_frame_type(UInt32(header.type)) == NGHTTP2_HEADERS {
        unsafe connection(owner)?.stream(header.stream_id)?.isSent = true
    }
    return 0
}

private func onStreamClose(_: OpaquePointer?, _ id: Int32, _ code: UInt32, _ owner: UnsafeMutableRawPointer?) -> Int32 {
    unsafe connection(owner)?.closed(id, code: code)
    return 0
}

private func readBody(
    _: OpaquePointer?, _ id: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _: UnsafeMutableRawPointer?
) -> Int {
    guard let opaque = unsafe source?.pointee.ptr else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    let stream = unsafe Unmanaged<MessageStream>.fromOpaque(opaque).takeUnretainedValue()
    let (count, isLast) = unsafe stream.readOutgoing(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
    if isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
