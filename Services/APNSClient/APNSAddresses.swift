import Foundation
package import Shared

/// Where Apple's two APNs are.
package struct APNSAddresses: Sendable, Equatable {
    package static let apple = "production=https://api.push.apple.com,sandbox=https://api.sandbox.push.apple.com"

    package struct Address: Sendable, Equatable {
        package let host: String
        package let port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    package let production: Address
    package let sandbox: Address

    /// Reads one URL for both or `production=URL,sandbox=URL`; only https, since the token is worth stealing.
    package init?(_ text: String) {
        let parts = text.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        if parts.count == 1, parts[0].count == 1, let one = Self.address(parts[0][0]) {
            (production, sandbox) = (one, one)
            return
        }
        let named = Dictionary(parts.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
        guard named.count == 2, let production = named["production"].flatMap(Self.address),
            let sandbox = named["sandbox"].flatMap(Self.address)
        else { return nil }
        self.production = production
        self.sandbox = sandbox
    }

    package subscript(environment: APNSEnvironment) -> Address {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }

    private static func address(_ text: String) -> Address? {
        guard let url = URL(string: text), url.scheme == "https", let host = url.host(), !host.isEmpty,
            let port = UInt16(exactly: url.port ?? 443)
        else { return nil }
        return Address(host: host, port: port)
    }
}
