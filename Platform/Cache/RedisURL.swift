import Foundation
import Runtime

/// Where Redis is and who we are there: `redis://[user:password@]host[:port][/database]`, `rediss://` with TLS.
struct RedisURL: Sendable {
    let host: String
    let port: UInt16
    let usesTLS: Bool
    let user: String?
    let password: Secret<String>?
    let database: Int

    /// Errors do not repeat the text: it may hold a password.
    init(_ text: String) throws(CacheError) {
        guard let url = URLComponents(string: text), let scheme = url.scheme, var host = url.host, !host.isEmpty else {
            throw Self.refusal("expected redis://[user:password@]host[:port][/database]")
        }
        guard scheme == "redis" || scheme == "rediss" else { throw Self.refusal("the scheme must be redis or rediss") }
        guard url.query == nil, url.fragment == nil else { throw Self.refusal("it takes no query and no fragment") }
        guard let port = UInt16(exactly: url.port ?? 6379), port > 0 else { throw Self.refusal("the port is none") }
        let path = url.path.drop { $0 == "/" }
        guard let database = path.isEmpty ? 0 : Int(path), database >= 0 else {
            throw Self.refusal("the path must be the number of the database")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.host = host
        self.port = port
        self.database = database
        usesTLS = scheme == "rediss"
        user = url.user.flatMap { $0.isEmpty ? nil : $0 }
        password = url.password.flatMap { $0.isEmpty ? nil : Secret($0) }
        guard user == nil || password != nil else { throw Self.refusal("a user needs a password") }
    }

    /// What is sent first on a new connection.
    ///
    /// The last is there so that an answer proves a server that works.
    var greeting: [[String]] {
        var commands: [[String]] = []
        if let password { commands.append(["AUTH"] + (user.map { [$0] } ?? []) + [password.reveal()]) }
        if database != 0 { commands.append(["SELECT", "\(database)"]) }
        return commands + [["PING"]]
    }

    private static func refusal(_ words: String) -> CacheError {
        CacheError(.settings, "the Redis URL is refused: \(words)")
    }
}
