/// A request; its scheme is https and its authority is the client's host.
package struct HTTP2Request: Sendable {
    package var method: String
    package var path: String
    /// In lower case, as HTTP/2 wants them, and without `:` names.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(method: String, path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// A whole response.
package struct HTTP2Response: Sendable {
    package let status: Int
    /// Names are in lower case.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The first header of that (lower-case) name.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// A request that got no response.
package struct HTTP2Error: Error, Equatable, CustomStringConvertible {
    package enum Outcome: Sendable {
        /// The server certainly did nothing with it (never sent, refused, or above GOAWAY's last stream): sending it
        /// again is safe (RFC 9113, 8.7).
        case notProcessed
        /// It may have been carried out.
        case unknown
    }

    package let outcome: Outcome
    /// For the log; no header and no body is in it.
    package let reason: String

    package var description: String {
        switch outcome {
        case .notProcessed: "not processed: \(reason)"
        case .unknown: "outcome unknown: \(reason)"
        }
    }
}
