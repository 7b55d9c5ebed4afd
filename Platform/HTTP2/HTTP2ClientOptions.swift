/// How an `HTTP2Client` behaves.
///
/// The defaults suit APNs but for `startsWithOneStream`.
package struct HTTP2ClientOptions: Sendable {
    /// Connections to the host, each with a thread of its own.
    package var connections = 1
    /// Send one request on a new connection and wait for its 2xx before sending more: APNs' rule when the requests carry
    /// a provider token.
    package var startsWithOneStream = false
    /// The most streams open on a connection at once; the server's own limit counts too.
    package var maxConcurrentStreams = 1000
    /// For TCP, TLS and the server's SETTINGS together, for one address.
    package var connectTimeout: Duration = .seconds(10)
    /// Send a PING when nothing was received for so long.
    package var pingAfterIdle: Duration = .seconds(600)
    /// A PING or sent bytes without an acknowledgement for so long end the connection.
    package var pingTimeout: Duration = .seconds(10)
    /// The most requests that wait for a stream on one connection.
    package var maxQueued = 10_000
    /// The largest body of a response.
    package var maxResponseBody = 1 << 20
    /// Whether an answer means that the connection it came over is of no use any more: what is open on it ends there, and
    /// all else goes over a new one.
    package var isLast: @Sendable (HTTP2Response) -> Bool = { _ in false }
    /// The pauses between failed attempts to connect.
    package var firstPause: Duration = .milliseconds(500)
    package var longestPause: Duration = .seconds(10)
    /// Headers that are secret or differ each time: they stay out of the compression table (RFC 7541, 7.1.3).
    package var neverIndexed: Set<String> = ["authorization"]

    package init() {}
}
