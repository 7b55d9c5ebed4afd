import Foundation
import HTTPServer
import Runtime
import Shared

/// What only the page asks for.
extension ControlAPI {
    /// Earlier messages that are given at once.
    private static let mostMessages = 100

    /// `nil` if the path is none of these.
    func forPage(_ request: HTTPRequest, _ path: [String]) throws -> HTTPResponse? {
        switch (request.method, path.first ?? "", path.count) {
        case ("GET", "messages", 1): try messages(request)
        case ("GET", "trails", 3): hop(path[1], path[2])
        case ("POST", "kill", 1): try kill(request)
        case ("POST", "agent", 1): try choose(request)
        default: nil
        }
    }

    /// Those that stand before the number `before`, counted from the beginning of the chat.
    private func messages(_ request: HTTPRequest) throws -> HTTPResponse {
        struct Body: Encodable {
            let first: Int
            let messages: [StateView.Message]
        }
        let query = Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
        guard let chat = query["chat"], let before = query["before"].flatMap(Int.init), before >= 0 else {
            throw BadRequest(detail: "which chat, and before which message?")
        }
        let thread = world.linq.book.withLock { $0.threads[chat] ?? [] }
        let end = min(before, thread.count)
        let first = max(0, end - Self.mostMessages)
        let body = Body(first: first, messages: thread[first..<end].map { StateView.Message($0) })
        return .json(200, encodedJSON(body))
    }

    private func hop(_ trail: String, _ number: String) -> HTTPResponse {
        struct Body: Encodable {
            let words: String
            let message: String
        }
        guard let number = Int(number), let hop = world.trails.trail(trail)?.hops.first(where: { $0.number == number }),
            let message = hop.message
        else { return .problem(404, title: "Not Found", detail: "this message is no longer remembered") }
        return .json(200, encodedJSON(Body(words: hop.words, message: message)))
    }

    private func kill(_ request: HTTPRequest) throws -> HTTPResponse {
        struct Asked: Decodable { let service: String }
        let service = (try decoded(request) as Asked).service
        guard Supervisor.services.contains(service) else {
            throw BadRequest(detail: "service must be one of \(Supervisor.services.joined(separator: ", "))")
        }
        try world.supervisor.kill(service)
        return .json(202, Array("{}".utf8))
    }

    private func choose(_ request: HTTPRequest) throws -> HTTPResponse {
        struct Asked: Decodable { let agent: String }
        let agent = (try decoded(request) as Asked).agent
        guard Supervisor.agents.contains(agent) else {
            throw BadRequest(detail: "agent must be one of \(Supervisor.agents.joined(separator: ", "))")
        }
        try world.supervisor.choose(agent: agent)
        hub.touchAll()
        return .json(202, Array("{}".utf8))
    }
}
