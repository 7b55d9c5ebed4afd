/// An error answer of Linq's API, with Linq's own code.
struct LinqFailure: Error, Equatable {
    let status: Int
    let code: Int
    let message: String
    /// Seconds; sent in the body and as a header.
    var retryAfter: Int?

    /// The body in Linq's envelope.
    func body(traceID: String) -> String {
        var error = "\"status\":\(status),\"code\":\(code),\"message\":\(message.json)"
        error += ",\"doc_url\":\"https://docs.linqapp.com/error/codes/\(code / 1000)xxx/\(code)/\""
        if let retryAfter { error += ",\"retry_after\":\(retryAfter)" }
        return "{\"success\":false,\"error\":{\(error)},\"trace_id\":\(traceID.json)}"
    }

    static func missing(_ field: String) -> LinqFailure {
        LinqFailure(status: 400, code: 1001, message: "Missing required field: \(field)")
    }

    static func badHandle(_ handle: String) -> LinqFailure {
        LinqFailure(status: 400, code: 1002, message: "Phone number must be in E.164 format or an email: \(handle)")
    }

    static let badJSON = LinqFailure(status: 400, code: 1003, message: "Invalid JSON in request body")

    static func badParts(_ why: String) -> LinqFailure { LinqFailure(status: 400, code: 1004, message: why) }

    static func badValue(_ why: String) -> LinqFailure { LinqFailure(status: 400, code: 1005, message: why) }

    static let chatNotFound = LinqFailure(status: 404, code: 2001, message: "Chat not found")
    static let unauthorized = LinqFailure(status: 401, code: 2004, message: "Invalid or missing bearer token")
    static let subscriptionNotFound = LinqFailure(status: 404, code: 2010, message: "Webhook subscription not found")
    static let chatBeingCreated = LinqFailure(status: 409, code: 2009, message: "Chat is still being created")
    static let optedOut = LinqFailure(status: 403, code: 2024, message: "Recipient has opted out")
    static let internalError = LinqFailure(status: 500, code: 3001, message: "Internal server error")
    static let unavailable = LinqFailure(status: 503, code: 4004, message: "Service unavailable")

    static func rateLimited(retryAfter: Int) -> LinqFailure {
        LinqFailure(
            status: 429, code: 1007, message: "Rate limited. Try again in \(retryAfter) seconds.",
            retryAfter: retryAfter)
    }
}
