import Crypto
import Foundation
package import Runtime

/// Why a server could not start.
package struct HTTP2ServerError: Error, CustomStringConvertible {
    package let description: String
}

/// Serves HTTP/2 over TLS, for the simulator and for tests: it can also do on purpose what servers do to clients.
package final class HTTP2Server: Sendable {
    package typealias Settings = HTTP2ServerSettings

    /// Where it listens, also if it was asked for any free port.
    package let port: UInt16
    private let inbox = ServerInbox()

    /// Starts to serve.
    ///
    /// - Parameter handler: Called on the server's thread, for whole requests. It must not wait: it may answer at once or keep
    ///   the responder for later.
    package init(
        listen: ListenAddress, certificateFile: String, keyFile: String, settings: Settings = Settings(), log: Log,
        handler: @escaping @Sendable (HTTP2ServerRequest, HTTP2ServerResponder) -> Void
    ) throws(HTTP2ServerError) {
        let tls: TLSContext
        do { tls = try .server(certificateFile: certificateFile, keyFile: keyFile, alpn: ["h2"]) } catch {
            throw HTTP2ServerError(description: error.description)
        }
        let listener: Int32
        do { (listener, port) = try Socket.listen(on: listen) } catch {
            throw HTTP2ServerError(description: error.reason)
        }
        let thread = Thread { [inbox] in
            // The loop is made on its thread and never leaves it.
            let loop = ServerLoop(
                listener: listener, inbox: inbox, tls: tls, settings: settings, log: log, handler: handler)
            loop.run()
        }
        thread.name = "http2-server"
        thread.start()
    }

    deinit { inbox.post(.close) }

    /// Sends GOAWAY on all connections: no stream above the last is answered.
    ///
    /// - Parameters:
    ///   - reason: The debug data; APNs sends JSON there.
    ///   - lastStreamID: Instead of the last stream that was received.
    package func goAway(reason: [UInt8] = [], lastStreamID: Int32? = nil) {
        inbox.post(.goAway(reason: reason, lastStreamID: lastStreamID))
    }

    /// Changes the limit of streams, on open connections too.
    package func setMaxConcurrentStreams(_ count: UInt32) { inbox.post(.setMaxConcurrentStreams(count)) }

    /// Ends all connections without a word, as a crash does.
    ///
    /// New ones are accepted.
    package func dropConnections() { inbox.post(.dropConnections) }

    /// Ends all connections with GOAWAY and stops to listen.
    ///
    /// Requests that are not answered yet are not answered.
    package func close() async {
        inbox.post(.close)
        await inbox.waitForEnd()
    }
}
