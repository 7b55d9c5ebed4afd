import Foundation
package import Runtime

// Spans as OpenTelemetry's semantic conventions for HTTP clients name them.

extension HTTPClientRequest {
    /// A span of one try to send the request, if the task works for a trace that is recorded.
    ///
    /// - Parameters:
    ///   - template: The path with what tells users apart left out. The URL itself is in no span.
    ///   - resendCount: How many tries there were before this one.
    package func span(_ template: String? = nil, resendCount: Int = 0) -> Span? {
        Trace.current?.span(template.map { "\(method) \($0)" } ?? method, .client, attributes(template, resendCount))
    }

    private func attributes(_ template: String?, _ resendCount: Int) -> [String: SpanValue] {
        var attributes: [String: SpanValue] = ["http.request.method": .text(method)]
        if let url = URLComponents(string: url), let host = url.host {
            attributes["server.address"] = .text(host)
            attributes["server.port"] = .integer(url.port ?? (url.scheme == "https" ? 443 : 80))
        }
        if let template { attributes["url.template"] = .text(template) }
        if resendCount > 0 { attributes["http.request.resend_count"] = .integer(resendCount) }
        return attributes
    }
}

extension Span {
    /// Ends with the other server's answer.
    package func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        switch result {
        case .success(let response):
            let status = response.status
            end(["http.response.status_code": .integer(status)], error: status >= 400 ? "\(status)" : nil)
        case .failure(let error):
            end(error: error.phase == .notSent ? "not_sent" : "unknown_outcome")
        }
    }
}
