import Runtime

/// An answer to a request.
///
/// `Content-Length`, `Date` and `Connection` are the server's business. A header with an empty value is left out.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: body)
    }

    /// An error as RFC 9457 describes it.
    ///
    /// `detail` is seen by the client: it says nothing about the inside.
    package static func problem(_ status: Int, title: String, detail: String? = nil) -> HTTPResponse {
        var body = "{\"status\":\(status),\"title\":\(Log.quoted(title))"
        if let detail { body += ",\"detail\":\(Log.quoted(detail))" }
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/problem+json")], body: Array((body + "}").utf8))
    }

    /// Whether every header can be sent: names of token characters (RFC 9110, 5.6.2), values without control ones.
    ///
    /// A line end in a value would let its author write headers of their own.
    var hasValidHeaders: Bool {
        headers.allSatisfy { name, value in
            !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter) && value.utf8.allSatisfy(\.isFieldCharacter)
        }
    }
}

extension UInt8 {
    /// Everything but control characters; a tab is none here.
    var isFieldCharacter: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }

    /// Letters, digits and ``!#$%&'*+-.^_`|~``.
    var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
