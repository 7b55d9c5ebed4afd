import CPostgreSQL
import Runtime

/// What a `postgres://` URL says, checked: nothing leaves this machine unless encrypted to a server whose certificate
/// and name are verified.
struct PostgresParameters: Sendable {
    let keywords: [String]
    let values: [String]

    /// Reads the URL (PostgreSQL 15 manual, 34.1.1.2).
    ///
    /// No error repeats any of it: it may hold a password.
    init(url: String, connectTimeout: Duration) throws(DatabaseError) {
        var options = try Self.parse(url)
        guard options["service"] == nil else { throw Self.refusal("a service file cannot be used") }
        let places = (options["hostaddr"] ?? options["host"] ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        guard !places.contains("") else {
            throw Self.refusal("it must name the host (or the socket's folder as host=)")
        }
        if !places.allSatisfy(Self.isThisMachine) {
            let mode = options["sslmode"] ?? "verify-full"
            guard mode == "verify-full" else {
                throw Self.refusal("the host is another machine, so sslmode must be verify-full, and it is \(mode)")
            }
            options["sslmode"] = mode
        }
        options["gssencmode"] = "disable"  // It would take the place of TLS, under rules of its own.
        options["client_encoding"] = "UTF8"
        // libpq takes whole seconds, at least two.
        options["connect_timeout"] = options["connect_timeout"] ?? "\(max(2, Int(connectTimeout.seconds)))"
        options["application_name"] = options["application_name"] ?? "isthmus"
        keywords = options.keys.sorted()
        values = keywords.map { options[$0] ?? "" }
    }

    /// Whether a connection to `place` cannot leave this machine.
    static func isThisMachine(_ place: Substring) -> Bool {
        if place.hasPrefix("/") || place.hasPrefix("@") || place == "localhost" || place == "::1" { return true }
        let parts = place.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func parse(_ url: String) throws(DatabaseError) -> [String: String] {
        var words: UnsafeMutablePointer<CChar>?
        guard let first = unsafe PQconninfoParse(url, &words) else {
            unsafe PQfreemem(words)  // The words quote the URL.
            throw refusal("it is not understood: expected postgres://user:password@host:port/database?…")
        }
        defer { unsafe PQconninfoFree(first) }
        var options: [String: String] = [:]
        var option = unsafe first
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe options[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return options
    }

    private static func refusal(_ words: String) -> DatabaseError {
        DatabaseError(.open, code: "url", "the PostgreSQL URL is refused: \(words)")
    }
}
