import Foundation
import HTTPServer
import Runtime

extension RequestRefused {
    static let notFound = RequestRefused(status: 404, title: "Not Found", detail: "there is nothing here for you")
    static let methodNotAllowed = RequestRefused(
        status: 405, title: "Method Not Allowed", detail: "this path does not take this method")
    static let backendOnly = RequestRefused(
        status: 403, title: "Forbidden", detail: "this call takes a backend key, not a user's token")
    static let tooMany = RequestRefused(
        status: 429, title: "Too Many Requests", detail: "there were too many calls for this user")
    static let tooLarge = RequestRefused(
        status: 413, title: "Content Too Large", detail: "the body is too large",
        expected: "at most \(RequestBody.mostBytes) bytes")
    static let unsupportedType = RequestRefused(
        status: 415, title: "Unsupported Media Type", detail: "the body is not declared as JSON",
        expected: "Content-Type: application/json")
    static let unavailable = RequestRefused(
        status: 503, title: "Service Unavailable", detail: "the call could not be carried out now; try it again")

    static func unauthorized(_ reason: CredentialRefused) -> RequestRefused {
        RequestRefused(
            status: 401, title: "Unauthorized", detail: reason.description,
            expected: "Authorization: Bearer with a backend key or a valid token")
    }
}

extension HTTPResponse {
    /// An error as RFC 9457 describes it, with `pointer` (where) and `expected` (what belongs there) beside `detail`.
    static func problem(_ refusal: RequestRefused, headers: [(name: String, value: String)] = []) -> HTTPResponse {
        var body = "{\"type\":\"about:blank\",\"status\":\(refusal.status),\"title\":\(Log.quoted(refusal.title))"
        body += ",\"detail\":\(Log.quoted(refusal.detail))"
        if let pointer = refusal.pointer { body += ",\"pointer\":\(Log.quoted(pointer))" }
        if let expected = refusal.expected { body += ",\"expected\":\(Log.quoted(expected))" }
        return HTTPResponse(
            status: refusal.status, headers: [("Content-Type", "application/problem+json")] + headers,
            body: Array((body + "}").utf8))
    }
}
