/// A request to another server.
package struct HTTPClientRequest: Sendable {
    package var method: String
    /// Whole, `http://` or `https://`.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The other server's answer, whatever its status: redirects are not followed.
package struct HTTPClientResponse: Sendable {
    package var status: Int
    /// Names are in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the header `name` in any case; a header that is repeated is joined by ", ".
    package func header(_ name: String) -> String? {
        let lower = name.lowercased()
        let values = headers.filter { $0.name == lower }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Why there is no answer.
package struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Phase: Sendable {
        /// No byte of the request was sent: certainly nothing was processed.
        case notSent
        /// The request was sent at least in part, and may have been processed.
        case unknownOutcome
    }

    package let phase: Phase
    /// libcurl's number, CURLE_….
    package let code: Int32
    /// libcurl's words, or ours; they name neither headers nor bodies.
    package let words: String
    /// Whether the same request may succeed later; `phase` says whether it may be sent again.
    package let isRetryable: Bool

    package var description: String { "\(phase == .notSent ? "not sent" : "outcome unknown"): \(words) (\(code))" }
}
