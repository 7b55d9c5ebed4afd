import HTTPClient
import HTTPServer
import Runtime

let quiet = Log(service: "test", level: .error, write: { _ in })

/// Runs `body` with a client, which is closed afterwards whatever happens.
func withClient<R>(
    maxConnectionsPerHost: Int = 64, maxBody: Int = 1 << 20, caFile: String? = nil,
    _ body: (HTTPClient) async throws -> R
) async throws -> R {
    let client = HTTPClient(
        connectTimeout: .seconds(5), maxConnectionsPerHost: maxConnectionsPerHost, maxBody: maxBody, caFile: caFile,
        userAgent: "isthmus-test", log: quiet)
    do {
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// Runs `body` with the URL of a server, which is closed afterwards whatever happens.
func withServer<R>(
    handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void, _ body: (String) async throws -> R
) async throws -> R {
    var limits = HTTPServerLimits()
    limits.maxConnectionsPerAddress = nil
    limits.maxBody = 8 << 20
    let server = try HTTPServer(
        listen: ListenAddress(host: "127.0.0.1", port: 0), limits: limits, name: "test", log: quiet, metrics: Metrics(),
        handler: handler)
    defer { server.close() }
    return try await body("http://127.0.0.1:\(server.port)")
}

/// The error that `send` throws.
func failure(
    _ client: HTTPClient, _ request: HTTPClientRequest, within limit: Duration = .seconds(30)
) async throws -> HTTPClientError? {
    do {
        _ = try await client.send(request, within: limit)
        return nil
    } catch {
        return error
    }
}
