/// What a server bears from its clients.
package struct HTTPServerLimits: Sendable {
    /// Bytes of a request's body; more is answered with 413 before it is read.
    package var maxBody = 1 << 20
    /// Bytes of a request's first line and headers; more is answered with 431.
    package var maxHeaderBytes = 16 << 10
    /// Header lines of a request; more is answered with 431.
    package var maxHeaderLines = 64
    /// Open connections; those above wait until one of them closes.
    package var maxConnections = 1024
    /// Open connections of one client address, `nil` for any number; those above are closed at once.
    package var maxConnectionsPerAddress: Int? = 64
    /// From the first byte, or from the connection's start, to the end of the headers.
    package var headerTimeout: Duration = .seconds(5)
    /// How long a body may take, apart from a second more for every `minimumBodyRate` bytes that have come.
    package var bodyTimeout: Duration = .seconds(5)
    /// Bytes a second below which a body, or a client's reading of an answer, is too slow.
    package var minimumBodyRate = 1024
    /// How long a connection may be silent between two requests, or while an answer waits to be read.
    package var idleTimeout: Duration = .seconds(30)
    /// How long the handler may take before the client is told 503.
    package var handlerTimeout: Duration = .seconds(10)
    /// Requests at once; more are answered with 503 and `Retry-After` before their body is read.
    package var maxInFlight = 256
    /// What `Retry-After` says to those.
    package var retryAfter: Duration = .seconds(5)
    /// Bytes of a stream that its client has not read yet; a client that lets more gather is cut off.
    package var maxStreamBacklog = 256 << 10

    package init() {}
}

/// A server could not be started, and why.
package struct HTTPServerError: Error, CustomStringConvertible {
    package let description: String
}
