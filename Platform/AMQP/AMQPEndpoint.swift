import Foundation
import Runtime

/// Where the broker is and as whom to log in.
package struct AMQPEndpoint: Sendable, CustomStringConvertible {
    /// Debian's bundle, used for `amqps` when no CA file is given.
    private static let systemCAFile = "/etc/ssl/certs/ca-certificates.crt"

    package let host: String
    package let port: UInt16
    package let vhost: String
    package let user: String
    let password: Secret<String>
    /// The certificates to trust; `nil` for a connection without TLS.
    let caFile: String?

    /// Reads `amqp://user:password@host:port/vhost` or `amqps://…`; parts may be percent-encoded.
    ///
    /// No path, or `/` alone, means the virtual host `/`. With `amqps` the host must be a name: librabbitmq does not
    /// compare a certificate's IP addresses.
    package init(url: String, caFile: String? = nil) throws(AMQPError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, ["amqp", "amqps"].contains(scheme)
        else { throw Self.bad("not an amqp:// or amqps:// URL") }
        guard let host = parts.host, !host.isEmpty else { throw Self.bad("names no host") }
        guard let user = parts.user, !user.isEmpty, let password = parts.password else {
            throw Self.bad("names no user and password")
        }
        guard parts.query == nil, parts.fragment == nil else { throw Self.bad("parameters are not understood") }
        guard let vhost = Self.vhost(parts.percentEncodedPath) else {
            throw Self.bad("the path must be one virtual host, percent-encoded")
        }
        guard let port = UInt16(exactly: parts.port ?? (scheme == "amqps" ? 5671 : 5672)), port > 0 else {
            throw Self.bad("the port is out of range")
        }
        let isTLS = scheme == "amqps"
        if isTLS, host.contains(":") || host.allSatisfy({ $0.isNumber || $0 == "." }) {
            throw Self.bad("amqps needs a host name: an IP address cannot be verified")
        }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self.port = port
        self.vhost = vhost
        self.user = user
        self.password = Secret(password)
        self.caFile = isTLS ? caFile ?? Self.systemCAFile : nil
    }

    package var usesTLS: Bool { caFile != nil }

    /// The URL without the password.
    package var description: String {
        "\(usesTLS ? "amqps" : "amqp")://\(user)@\(host):\(port)\(vhost == "/" ? "/" : "/" + vhost)"
    }

    private static func vhost(_ path: String) -> String? {
        let name = path.dropFirst()
        guard !name.contains("/") else { return nil }
        return name.isEmpty ? "/" : String(name).removingPercentEncoding
    }

    private static func bad(_ words: String) -> AMQPError { AMQPError(.badURL, "broker URL", words) }
}
