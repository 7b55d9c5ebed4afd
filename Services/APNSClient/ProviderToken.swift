package import Crypto
import Foundation
package import Runtime

/// The JWT that says who pushes; one a key, shared by all connections.
///
/// Apple refuses one that is older than an hour, and one that is renewed more often than every 20 minutes ("Establishing
/// a token-based connection to APNs").
package final class ProviderToken: Sendable {
    /// Seconds of age from which a new one is made.
    package static let renewalAge: Int64 = 45 * 60
    /// Seconds of age below which none is made, whatever APNs says.
    package static let minimumAge: Int64 = 20 * 60
    /// Seconds of age from which a new one is made although APNs has had too many: it takes none that is an hour old.
    package static let latestRenewalAge: Int64 = 55 * 60
    /// Seconds for which none is made after APNs has had too many.
    package static let restraint: Int64 = 20 * 60

    private struct Issued {
        let text: String
        let at: Int64
        /// No new one before then.
        var keptUntil: Int64 = 0

        func isDue(at now: Int64) -> Bool {
            let age = now - at
            return age < 0 || age >= ProviderToken.latestRenewalAge
                || age >= ProviderToken.renewalAge && now >= keptUntil
        }
    }

    private let key: ES256PrivateKey
    private let keyID: String
    private let teamID: String
    private let clock: WallClock
    private let issued = Locked<Issued?>(nil)

    package init(key: ES256PrivateKey, keyID: String, teamID: String, clock: WallClock) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.clock = clock
    }

    /// The token to use now.
    package func current() throws -> String {
        let now = clock.seconds
        return try issued.withLock { issued in
            if let issued, !issued.isDue(at: now) { return issued.text }
            let fresh = Issued(text: try make(at: now), at: now)
            issued = fresh
            return fresh.text
        }
    }

    /// APNs called the token expired: makes the next one new, unless this one is so young that a clock must be wrong.
    ///
    /// Returns whether there will be a new one, or is one already.
    package func expire(_ token: String) -> Bool {
        let now = clock.seconds
        return issued.withLock { current in
            // Many pushes were on their way with it; the first answer to come has seen to it.
            guard current?.text == token else { return true }
            guard let issued = current, now - issued.at < Self.minimumAge, now >= issued.at else {
                current = nil
                return true
            }
            return false
        }
    }

    /// APNs has got new tokens too often: goes on with the one there is for a while.
    package func keep() {
        let now = clock.seconds
        issued.withLock { $0?.keptUntil = now + Self.restraint }
    }

    private func make(at now: Int64) throws -> String {
        let header = Base64URL.encode(Array("{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}".utf8))
        let claims = Base64URL.encode(Array("{\"iss\":\"\(teamID)\",\"iat\":\(now)}".utf8))
        let signature = try key.sign(Array("\(header).\(claims)".utf8))
        return "\(header).\(claims).\(Base64URL.encode(signature))"
    }
}
