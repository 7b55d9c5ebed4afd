import HTTPServer
import Runtime

let quiet = Log(service: "test", level: .error, write: { _ in })

/// Runs `body` with a server, which is closed afterwards whatever happens.
func withServer<R>(
    limits: HTTPServerLimits = HTTPServerLimits(), metrics: Metrics = Metrics(),
    handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void,
    _ body: (HTTPServer) async throws -> R
) async throws -> R {
    let server = try HTTPServer(
        listen: ListenAddress(host: "127.0.0.1", port: 0), limits: limits, name: "test", log: quiet, metrics: metrics,
        handler: handler)
    defer { server.close() }
    return try await body(server)
}

/// Keeps requests until a test answers them.
final class Held: Sendable {
    private let list = Locked<[(request: HTTPRequest, responder: HTTPResponder)]>([])

    var count: Int { list.withLock { $0.count } }

    func hold(_ request: HTTPRequest, _ responder: HTTPResponder) { list.withLock { $0.append((request, responder)) } }

    func takeAll() -> [(request: HTTPRequest, responder: HTTPResponder)] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}

/// Answers at once with what it was asked.
let echo: @Sendable (HTTPRequest, HTTPResponder) -> Void = { request, responder in
    responder.respond(
        HTTPResponse(
            status: 200,
            headers: [
                ("X-Method", request.method), ("X-Path", request.path), ("X-Asked", request.header("x-ask") ?? "-"),
            ],
            body: request.body))
}

func post(_ path: String, _ body: String, _ headers: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

func get(_ path: String, _ headers: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n" }
