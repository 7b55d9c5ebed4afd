import Foundation
import HTTPClient
import Runtime
import Shared

/// Somebody else's endpoint that an agent asks: again for a while, if it is busy, down or slow.
///
/// The same request may reach it more than once, also when an earlier try was answered but the answer got lost.
struct AgentEndpoint: Sendable {
    let url: String
    let client: HTTPClient
    /// Of one try, from connecting to the last byte of the answer.
    let timeout: Duration
    var tries = 3
    var backoff = Backoff(base: .milliseconds(500), cap: .seconds(5))
    /// A `Retry-After` that asks for more is not waited for in full.
    var longestWait = Duration.seconds(20)

    /// Why there was no answer that can be used.
    enum Failure: PassingFailure, Equatable, CustomStringConvertible {
        /// Its status, none of the 2xx.
        case status(Int, tries: Int)
        case noAnswer(HTTPClientError, tries: Int)

        var description: String {
            switch self {
            case .status(let status, let tries): "the endpoint answered \(status)" + Self.after(tries)
            case .noAnswer(let error, let tries): "the endpoint gave no answer" + Self.after(tries) + ": \(error)"
            }
        }

        /// No answer, trouble at the other end, or a key that somebody has to mend; any other status is about this event.
        var isPassing: Bool {
            switch self {
            case .noAnswer: true
            case .status(let status, _): AgentEndpoint.isWorthAnotherTry(status) || [401, 403].contains(status)
            }
        }

        private static func after(_ tries: Int) -> String { tries > 1 ? " to each of \(tries) tries" : "" }
    }

    /// Posts JSON and returns the answer, whose status is one of the 2xx; the endpoint can carry on the event's trace.
    ///
    /// - Parameter headers: Made anew for each try.
    func post(
        _ body: [UInt8], headers: () -> [(name: String, value: String)]
    ) async throws -> HTTPClientResponse {
        var tried = 0
        while true {
            var request = HTTPClientRequest(
                "POST", url,
                headers: [("Content-Type", "application/json"), ("Accept", "application/json")] + headers(),
                body: body)
            let span = request.span(resendCount: tried)
            if let context = span?.context ?? Trace.current?.context {
                request.headers.append((name: "traceparent", value: context.traceparent))
                if let state = context.state { request.headers.append((name: "tracestate", value: state)) }
            }
            tried += 1
            let result = await answer(to: request)
            span?.end(result)
            var wait = backoff.delay(after: tried)
            switch result {
            case .success(let response) where (200...299).contains(response.status): return response
            case .success(let response):
                guard tried < tries, Self.isWorthAnotherTry(response.status) else {
                    throw Failure.status(response.status, tries: tried)
                }
                wait = max(wait, min(Self.retryAfter(response) ?? .zero, longestWait))
            case .failure(let error):
                guard tried < tries, error.isRetryable else { throw Failure.noAnswer(error, tries: tried) }
            }
            try await Task.sleep(for: wait)
        }
    }

    private func answer(to request: HTTPClientRequest) async -> Result<HTTPClientResponse, HTTPClientError> {
        do {
            return .success(try await client.send(request, within: timeout))
        } catch {
            return .failure(error)
        }
    }

    fileprivate static func isWorthAnotherTry(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500...599).contains(status) && status != 501
    }

    /// Seconds only: a date would need both clocks to agree.
    private static func retryAfter(_ response: HTTPClientResponse) -> Duration? {
        response.header("retry-after").flatMap { Int64($0) }.flatMap { (0...86400).contains($0) ? .seconds($0) : nil }
    }
}

/// An endpoint's answer that is not as it was agreed.
struct UnexpectedAnswer: Error, Equatable, CustomStringConvertible {
    /// Where in the answer: "replies[0].text"; empty for the whole of it.
    let path: String
    let expected: String
    let found: String

    var description: String {
        "the answer is not as described: \(path.isEmpty ? "" : "at \(path) ")expected \(expected), found \(found)"
    }
}

/// Reads somebody else's JSON and knows the path of what it reads.
struct AnswerReader {
    let value: AnyJSON
    let path: String

    init(_ value: AnyJSON, path: String = "") {
        self.value = value
        self.path = path
    }

    /// The field `name`; `nil` if it is absent or null.
    func field(_ name: String) -> AnswerReader? {
        guard let value = value[name], value != .null else { return nil }
        return AnswerReader(value, path: path.isEmpty ? name : "\(path).\(name)")
    }

    /// An object that has no other fields: a misspelt one would do nothing in silence.
    func requireObject(_ names: [String]) throws(UnexpectedAnswer) {
        guard case .object(let fields) = value else { throw unexpected("an object") }
        if let other = fields.keys.sorted().first(where: { !names.contains($0) }) {
            throw unexpected("only the fields \(names.joined(separator: ", "))", found: "\"\(other.prefix(40))\"")
        }
    }

    func requireText(_ name: String) throws(UnexpectedAnswer) -> String {
        guard let field = field(name) else {
            throw AnswerReader(.null, path: path.isEmpty ? name : "\(path).\(name)").unexpected("text")
        }
        return try field.text()
    }

    func text() throws(UnexpectedAnswer) -> String {
        guard let text = value.text else { throw unexpected("text") }
        return text
    }

    func list() throws(UnexpectedAnswer) -> [AnswerReader] {
        guard let elements = value.elements else { throw unexpected("an array") }
        return elements.enumerated().map { AnswerReader($1, path: "\(path)[\($0)]") }
    }

    /// The error goes to the log, so it does not repeat texts: they may be a user's.
    func unexpected(_ expected: String, found: String? = nil) -> UnexpectedAnswer {
        let words = value.text == nil ? value == .null ? "nothing" : value.inWords : "text"
        return UnexpectedAnswer(path: path, expected: expected, found: found ?? words)
    }
}
