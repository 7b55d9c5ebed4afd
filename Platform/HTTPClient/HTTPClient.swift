import Foundation
package import Runtime

/// An HTTP/1.1 client over libcurl, with kept connections and one thread for all of them.
///
/// Certificates and host names are always verified, redirects are never followed, proxies are not used.
package final class HTTPClient: Sendable {
    private let loop: ClientLoop
    private let maxBody: Int

    /// Starts a client.
    ///
    /// - Parameters:
    ///   - maxConnectionsPerHost: More requests at once to one host wait for a free connection.
    ///   - maxBody: Bytes of an answer's body; a larger one is an error.
    ///   - caFile: Authorities to trust instead of the system's.
    package init(
        connectTimeout: Duration = .seconds(5), maxConnectionsPerHost: Int = 64, maxBody: Int = 1 << 20,
        caFile: String? = nil, userAgent: String, log: Log
    ) {
        self.maxBody = maxBody
        let settings = TransferSettings(connectTimeout: connectTimeout, caFile: caFile, userAgent: userAgent)
        let loop = ClientLoop(settings, maxConnectionsPerHost: maxConnectionsPerHost, log: log)
        self.loop = loop
        let thread = Thread { loop.run() }
        thread.name = "http client"
        thread.start()
    }

    deinit { loop.startClosing() }

    /// Sends a request and waits for its whole answer.
    ///
    /// Only GET and HEAD are sent again by themselves, when a kept connection ends under them without an answer.
    ///
    /// - Parameter limit: For everything: waiting for a connection, connecting, sending, receiving. A cancelled task
    ///   ends the transfer.
    package func send(
        _ request: HTTPClientRequest, within limit: Duration
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let transfer = Transfer(request, deadline: monotonicSeconds() + limit.seconds, bodyLimit: maxBody)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.continuation = continuation
                if !loop.post(.start(transfer)) { transfer.fail(.closed) }
            }
        } onCancel: {
            // If it comes before the start, it is waiting there. False if the client is closed, which ends it as well.
            _ = loop.post(.cancel(transfer))
        }
        return try result.get()
    }

    /// Ends what is open as if cancelled, and waits for the thread's end; later requests fail.
    package func close() async {
        loop.startClosing()
        await loop.waitForEnd()
    }
}
