import Foundation
import HTTPClient
import HTTPServer
import Runtime
import TestSupport

/// Stands between the app and the registry: passes on what it is not told to answer or to hold back itself.
final class Gate: Sendable {
    private struct State {
        var answers: [HTTPResponse] = []
        var isClosed = false
        var seen: [String] = []
    }

    private let state = Locked(State())
    private let http: HTTPClient
    private let server: HTTPServer

    var url: String { "http://127.0.0.1:\(server.port)" }

    /// "PUT start-token" for each call, in order.
    var seen: [String] { state.withLock { $0.seen } }

    private init(before registry: RealRegistry) throws {
        let log = Log(service: "test", level: .error) { _ in }
        http = HTTPClient(userAgent: "gate", log: log)
        server = try HTTPServer(
            listen: ListenAddress(host: "127.0.0.1", port: 0), name: "gate", log: log, metrics: Metrics()
        ) { [state, http] request in
            let answer = state.withLock { state in
                state.seen.append("\(request.method) \(request.segments.dropFirst(5).joined(separator: "/"))")
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            if let answer { return answer }
            while state.withLock({ $0.isClosed }) {
                // Cancelled: the server goes down, and nobody waits for this answer.
                guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { break }
            }
            return await Self.pass(request, to: registry, http)
        }
    }

    static func with(_ registry: RealRegistry, _ body: (Gate) async throws -> Void) async throws {
        let gate = try Gate(before: registry)
        let result: Result<Void, any Error>
        do { result = .success(try await body(gate)) } catch { result = .failure(error) }
        gate.open()
        gate.server.close()
        await gate.http.close()
        try result.get()
    }

    /// The next calls get these answers instead of the registry's.
    func answer(_ answers: HTTPResponse...) { state.withLock { $0.answers += answers } }

    /// Calls are taken and not answered.
    func close() { state.withLock { $0.isClosed = true } }

    func open() { state.withLock { $0.isClosed = false } }

    private static func pass(_ request: HTTPRequest, to registry: RealRegistry, _ http: HTTPClient) async
        -> HTTPResponse
    {
        let headers = request.headers.filter { ["authorization", "content-type"].contains($0.name.lowercased()) }
        do {
            let answer = try await http.send(
                HTTPClientRequest(request.method, registry.url + request.target, headers: headers, body: request.body),
                within: .seconds(30))
            return HTTPResponse(
                status: answer.status, headers: answer.headers.filter { $0.name.lowercased() == "retry-after" },
                body: answer.body)
        } catch { return HTTPResponse(status: 502) }
    }
}

extension HTTPRequest {
    /// The path and the query as they were sent, as far as this test's calls have them.
    fileprivate var target: String {
        let query = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return query.isEmpty ? path : "\(path)?\(query)"
    }
}
