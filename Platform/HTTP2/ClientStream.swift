import CNGHTTP2

/// A request that waits for its turn.
struct PendingRequest: Sendable {
    typealias Completion = @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void

    let request: HTTP2Request
    /// In monotonic seconds.
    let deadline: Double
    let completion: Completion

    func fail(_ outcome: HTTP2Error.Outcome, _ reason: String) {
        completion(.failure(HTTP2Error(outcome: outcome, reason: reason)))
    }
}

/// A request on a connection.
final class ClientStream: MessageStream {
    let deadline: Double
    let startedAt: Double
    private var completion: PendingRequest.Completion?

    init(_ pending: PendingRequest, startedAt: Double, maxBody: Int) {
        deadline = pending.deadline
        self.startedAt = startedAt
        completion = pending.completion
        super.init(outgoing: pending.request.body, maxBody: maxBody)
    }

    var isCompleted: Bool { completion == nil }

    /// Calls the completion, the first time.
    func complete(_ result: Result<HTTP2Response, HTTP2Error>) {
        completion?(result)
        completion = nil
    }

    /// Completes without a response; what was never sent was certainly not processed.
    func fail(_ reason: String, ifSent outcome: HTTP2Error.Outcome = .unknown) {
        complete(.failure(HTTP2Error(outcome: isSent ? outcome : .notProcessed, reason: reason)))
    }

    /// The response, if it came whole.
    var response: HTTP2Response? {
        guard hasEnded, let status = pseudoHeader(":status").flatMap({ Int($0) }), status >= 200 else { return nil }
        return HTTP2Response(status: status, headers: headers, body: body)
    }
}
