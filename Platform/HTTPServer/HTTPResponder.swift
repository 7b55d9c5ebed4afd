import Runtime

/// The way to answer one request: exactly once, from any thread, at once or later.
///
/// A responder that goes without having answered tells the client 500.
package final class HTTPResponder: Sendable {
    private let exchange: Exchange
    private let core: ServerCore

    init(_ exchange: Exchange, _ core: ServerCore) {
        self.exchange = exchange
        self.core = core
    }

    deinit {
        guard !exchange.isAnswered, exchange.answer(.response(.problem(500, title: "Internal Server Error"))) else {
            return
        }
        core.log.error("a request was dropped without an answer", ["server": core.name])
    }

    /// Sends the answer.
    ///
    /// Later calls are ignored, and so is an answer that comes after the handler's time is up.
    package func respond(_ response: HTTPResponse) { exchange.answer(.response(response)) }

    /// Begins an answer without an end, as for server-sent events.
    ///
    /// If the request was answered before, the stream is closed from the start.
    package func stream(status: Int = 200, headers: [(name: String, value: String)]) -> HTTPBodyStream {
        let stream = HTTPBodyStream(
            exchange.connection, limit: core.limits.maxStreamBacklog, isClosing: { [core] in core.isClosing })
        if !exchange.answer(.stream(stream, status: status, headers: headers)) { stream.finish() }
        return stream
    }

    /// Closes the connection with no answer, which a client takes for a network error.
    package func abort() { exchange.abort() }
}
