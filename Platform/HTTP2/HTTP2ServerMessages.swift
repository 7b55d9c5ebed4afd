import Runtime

/// A whole request as the server got it.
package struct HTTP2ServerRequest: Sendable {
    /// Counts the connections of a server from 1.
    package let connectionID: Int
    package let streamID: Int32
    package let method: String
    package let path: String
    /// `:authority`, or the header `host` of a client that sends that in its place (RFC 9113, 8.3.1).
    package let authority: String
    /// Names are in lower case; `:` names are not among them.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The first header of that (lower-case) name.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The way to answer one request, from any thread.
///
/// The first answer counts; one to a stream that is gone is dropped.
package final class HTTP2ServerResponder: Sendable {
    private let connectionID: Int
    private let streamID: Int32
    private let post: @Sendable (ServerCommand) -> Void
    private let hasAnswered = Locked(false)

    init(connectionID: Int, streamID: Int32, post: @escaping @Sendable (ServerCommand) -> Void) {
        self.connectionID = connectionID
        self.streamID = streamID
        self.post = post
    }

    package func respond(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        answer(.respond(ServerAnswer(status: status, headers: headers, body: body)))
    }

    /// Ends the stream with an error code (RFC 9113, 7), such as 7 for REFUSED_STREAM.
    package func reset(_ code: UInt32) { answer(.reset(code)) }

    private func answer(_ action: ServerCommand.Action) {
        let isFirst = hasAnswered.withLock { hasAnswered in
            defer { hasAnswered = true }
            return !hasAnswered
        }
        if isFirst { post(.stream(connection: connectionID, stream: streamID, action)) }
    }
}

struct ServerAnswer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]
}

/// What other threads ask of the server's thread.
enum ServerCommand: Sendable {
    enum Action: Sendable {
        case respond(ServerAnswer)
        case reset(UInt32)
    }

    case stream(connection: Int, stream: Int32, Action)
    case goAway(reason: [UInt8], lastStreamID: Int32?)
    case setMaxConcurrentStreams(UInt32)
    /// Ends all connections without a word.
    case dropConnections
    case close
}

/// The limits of an `HTTP2Server`.
package struct HTTP2ServerSettings: Sendable {
    package var maxConcurrentStreams: UInt32 = 1000
    /// How much a client may send on a stream before we have read it.
    package var initialWindowSize: UInt32 = 65_535
    /// A request with a larger body is reset.
    package var maxBody = 1 << 20
    package var maxConnections = 256
    package var handshakeTimeout: Duration = .seconds(10)

    package init() {}
}
