package import Runtime

/// What every service shows its operators: `/healthz`, `/readyz` and `/metrics`.
package final class AdminServer: Sendable {
    private let server: HTTPServer

    /// Starts the server.
    ///
    /// - Parameter ready: The reasons why the service is not ready; none means ready. It must not wait.
    package init(
        listen: ListenAddress, log: Log, metrics: Metrics, ready: @escaping @Sendable () -> [String]
    ) throws(HTTPServerError) {
        var limits = HTTPServerLimits()
        limits.maxConnections = 64
        server = try HTTPServer(listen: listen, threads: 1, limits: limits, name: "admin", log: log, metrics: metrics) {
            request, responder in
            responder.respond(Self.answer(to: request, metrics, ready))
        }
    }

    package var port: UInt16 { server.port }

    package func close() { server.close() }

    private static func answer(
        to request: HTTPRequest, _ metrics: Metrics, _ ready: @Sendable () -> [String]
    ) -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            var response = HTTPResponse.problem(405, title: "Method Not Allowed")
            response.headers.append(("Allow", "GET, HEAD"))
            return response
        }
        switch request.path {
        case "/healthz": return .text(200, "ok\n")
        case "/readyz":
            let reasons = ready()
            let list = reasons.map(Log.quoted).joined(separator: ",")
            return .json(
                reasons.isEmpty ? 200 : 503, Array("{\"ready\":\(reasons.isEmpty),\"reasons\":[\(list)]}".utf8))
        case "/metrics":
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                body: Array(metrics.render().utf8))
        default: return .problem(404, title: "Not Found")
        }
    }
}
