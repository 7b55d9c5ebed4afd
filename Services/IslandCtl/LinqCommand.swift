import Foundation
import HTTPClient
import Runtime
import Shared

/// `islandctl linq`: the webhook subscriptions of an account.
struct LinqCommand {
    static let usualVersion = "2026-02-03"
    /// What `ingress` acts on.
    static let usualEvents = ["message.received", "message.edited", "reaction.added", "reaction.removed"]
    static let usualURL = "https://api.linqapp.com/api/partner"
    private static let timeout = Duration.seconds(15)

    private let arguments: Arguments
    private let baseURL: String
    private let token: Secret<String>
    private let log: Log

    init(_ arguments: Arguments, _ surroundings: Surroundings) throws(UsageError) {
        self.arguments = arguments
        let url = try surroundings.value("--url", arguments, or: "LINQ_API_URL") ?? Self.usualURL
        baseURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        guard let text = try surroundings.setting("LINQ_API_TOKEN") else {
            throw UsageError("LINQ_API_TOKEN or LINQ_API_TOKEN_FILE is not set in the environment")
        }
        token = Secret(text)
        log = surroundings.log
    }

    func run() async throws -> IslandCtl.Result {
        switch arguments.words.first {
        case "list":
            try arguments.require(words: 1, options: ["--url"])
            return try await list()
        case "subscribe":
            try arguments.require(
                words: 2, options: ["--url", "--secret-file", "--version", "--events", "--phone-numbers"])
            return try await subscribe(arguments.words[1])
        case "delete":
            try arguments.require(words: 2, options: ["--url"])
            return try await delete(arguments.words[1])
        default: throw UsageError("linq: list, subscribe or delete; see islandctl --help")
        }
    }

    private func list() async throws -> IslandCtl.Result {
        let answer = try await ask("GET", "")
        let all = answer["subscriptions"]?.elements ?? []
        if arguments.isJSON { return .init(output: IslandCtl.line(.array(all))) }
        let lines = all.map { one in
            let events = one["subscribed_events"]?.elements?.compactMap(\.text) ?? []
            let isActive = one["is_active"] == .bool(false) ? "inactive" : "active"
            return "\(one["id"]?.text ?? "?")  \(isActive)  \(one["target_url"]?.text ?? "?")\n    "
                + events.joined(separator: ", ") + "\n"
        }
        return .init(output: lines.isEmpty ? "no subscriptions\n" : lines.joined())
    }

    private func subscribe(_ target: String) async throws -> IslandCtl.Result {
        guard let path = arguments.options["--secret-file"] else {
            throw UsageError("linq subscribe: --secret-file is needed, Linq shows the signing secret once")
        }
        let url = try pinned(target)
        let file = try SecretFile(new: path)
        do {
            let answer = try await ask("POST", "", body: body(url))
            guard let id = answer["id"]?.text, let secret = answer["signing_secret"]?.text else {
                throw Refused("Linq's answer has no id or no signing_secret; look at `islandctl linq list`")
            }
            try file.write(secret)
            if arguments.isJSON {
                return .init(
                    output: IslandCtl.line(
                        .object([
                            "id": .string(id), "target_url": .string(url), "secret_file": .string(path),
                        ])))
            }
            return .init(output: "subscribed: \(id)\n    \(url)\n    the signing secret is in \(path)\n")
        } catch {
            file.remove()
            throw error
        }
    }

    private func delete(_ id: String) async throws -> IslandCtl.Result {
        _ = try await ask("DELETE", "/\(Self.escaped(id))")
        return .init(
            output: arguments.isJSON ? IslandCtl.line(.object(["deleted": .string(id)])) : "deleted: \(id)\n")
    }

    /// The target with its version, which would change by itself otherwise when the subscription is made anew.
    private func pinned(_ target: String) throws(UsageError) -> String {
        guard var parts = URLComponents(string: target), let host = parts.host, !host.isEmpty,
            parts.scheme == "https" || parts.scheme == "http" && baseURL.hasPrefix("http:")
        else { throw UsageError("linq subscribe: expected an https:// address, such as https://HOST/webhooks/linq") }
        let version = arguments.options["--version"] ?? Self.usualVersion
        guard version.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil else {
            throw UsageError("--version: expected a date such as \(Self.usualVersion)")
        }
        let others = (parts.queryItems ?? []).filter { $0.name != "version" }
        parts.queryItems = others + [URLQueryItem(name: "version", value: version)]
        guard let url = parts.string else { throw UsageError("linq subscribe: \(target) is no URL") }
        return url
    }

    private func body(_ url: String) -> AnyJSON {
        func list(_ option: String) -> [AnyJSON]? {
            arguments.options[option]?.split(separator: ",").map {
                .string($0.trimmingCharacters(in: .whitespaces))
            }
        }
        var body: [String: AnyJSON] = [
            "target_url": .string(url),
            "subscribed_events": .array(list("--events") ?? Self.usualEvents.map { .string($0) }),
        ]
        if let numbers = list("--phone-numbers") { body["phone_numbers"] = .array(numbers) }
        return .object(body)
    }

    private func ask(_ method: String, _ path: String, body: AnyJSON? = nil) async throws -> AnyJSON {
        let client = HTTPClient(userAgent: "islandctl", log: log)
        let request = HTTPClientRequest(
            method, "\(baseURL)/v3/webhook-subscriptions\(path)",
            headers: [
                (name: "Authorization", value: "Bearer \(token.reveal())"),
                (name: "Content-Type", value: "application/json"),
            ], body: body?.bytes ?? [])
        let result: Result<HTTPClientResponse, any Error>
        do { result = .success(try await client.send(request, within: Self.timeout)) } catch {
            result = .failure(error)
        }
        await client.close()
        switch result {
        case .failure(let error): throw NoAnswer("Linq at \(baseURL) did not answer: \(error)")
        case .success(let response):
            let json = AnyJSON(parsing: response.body) ?? .null
            guard (200..<300).contains(response.status) else { throw Refused(Self.words(response.status, json)) }
            return json
        }
    }

    private static func words(_ status: Int, _ json: AnyJSON) -> String {
        var code = ""
        if case .integer(let number)? = json["error"]?["code"] { code = "/\(number)" }
        let message = json["error"]?["message"]?.text ?? "no words"
        return "Linq refused it, \(status)\(code): \(message)"
            + (status == 401 ? " (is LINQ_API_TOKEN right?)" : "")
    }

    private static func escaped(_ segment: String) -> String {
        segment.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_.~")))
            ?? ""
    }
}
