import Foundation
import Runtime

/// Where the broker is and as whom to log in.
package struct AMQPEndpoint: Sendable, CustomStringConvertible {
    /// Debian's bundle, used for `amqps` when no CA file is given.
    private static let systemCAFile = "/etc/ssl/certs/ca-certificates.crt"

    /// A node of the broker.
    package struct Address: Sendable, Equatable, CustomStringConvertible {
        package let host: String
        package let port: UInt16

        package var description: String { "\(host):\(port)" }
    }

    /// The nodes of the broker, any of which will do; at least one.
    package let addresses: [Address]
    package let vhost: String
    package let user: String
    let password: Secret<String>
    /// The certificates to trust; `nil` for a connection without TLS.
    let caFile: String?

    /// Reads `amqp://user:password@host:port/vhost` or `amqps://…`; parts may be percent-encoded.
    ///
    /// A cluster's nodes stand one after the other with commas: `host:port,host:port`. No path, or `/` alone, means the
    /// virtual host `/`. With `amqps` the host must be a name: librabbitmq does not compare a certificate's IP addresses.
    package init(url: String, caFile: String? = nil) throws(AMQPError) {
        let urls = Self.oneByOne(url)
        let first = try AMQPEndpoint(oneHost: urls[0], caFile: caFile)
        var addresses = first.addresses
        for url in urls.dropFirst() { addresses += try AMQPEndpoint(oneHost: url, caFile: caFile).addresses }
        self.init(first, addresses: addresses)
    }

    private init(_ other: AMQPEndpoint, addresses: [Address]) {
        self.addresses = addresses
        vhost = other.vhost
        user = other.user
        password = other.password
        caFile = other.caFile
    }

    /// The same URL for each of its hosts.
    private static func oneByOne(_ url: String) -> [String] {
        guard let scheme = url.range(of: "://") else { return [url] }
        let path = url[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let authority = url[scheme.upperBound..<path]
        let hosts = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        return authority[hosts...].split(separator: ",", omittingEmptySubsequences: false)
            .map { url[..<hosts] + $0 + url[path...] }.map(String.init)
    }

    private init(oneHost url: String, caFile: String?) throws(AMQPError) {
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
        addresses = [Address(host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)]
        self.vhost = vhost
        self.user = user
        self.password = Secret(password)
        self.caFile = isTLS ? caFile ?? Self.systemCAFile : nil
    }

    package var usesTLS: Bool { caFile != nil }

    /// The URL without the password.
    package var description: String {
        let hosts = addresses.map(\.description).joined(separator: ",")
        return "\(usesTLS ? "amqps" : "amqp")://\(user)@\(hosts)\(vhost == "/" ? "/" : "/" + vhost)"
    }

    private static func vhost(_ path: String) -> String? {
        let name = path.dropFirst()
        guard !name.contains("/") else { return nil }
        return name.isEmpty ? "/" : String(name).removingPercentEncoding
    }

    private static func bad(_ words: String) -> AMQPError { AMQPError(.badURL, "broker URL", words) }
}
