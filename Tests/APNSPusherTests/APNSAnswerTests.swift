import APNSClient
import Crypto
import Foundation
import Runtime
import Shared
import TestSupport
import Testing

@testable import APNSPusher

@Suite struct `APNs' answers` {
    private let now = Timestamp(millisecondsSince1970: 5000)

    private func meaning(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> APNSAnswer.Meaning {
        APNSAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8), now: now).meaning
    }

    private func meaning(_ status: Int, reason: String) -> APNSAnswer.Meaning {
        meaning(status, "{\"reason\":\"\(reason)\"}")
    }

    @Test func `every status and reason that Apple lists has its action`() {
        #expect(meaning(200) == .accepted)
        #expect(meaning(400, reason: "BadDeviceToken") == .wrongEnvironment)
        for reason in [
            "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DeviceTokenNotForTopic",
            "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty",
            "TopicDisallowed",
        ] { #expect(meaning(400, reason: reason) == .refused, "\(reason)") }
        #expect(meaning(400, reason: "IdleTimeout") == .newConnection)
        for reason in [
            "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
            "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken",
        ] { #expect(meaning(403, reason: reason) == .denied, "\(reason)") }
        #expect(meaning(403, reason: "ExpiredProviderToken") == .tokenExpired)
        #expect(meaning(403, reason: "UnrelatedKeyIdInToken") == .newConnection)
        #expect(meaning(404, reason: "BadPath") == .refused)
        #expect(meaning(405, reason: "MethodNotAllowed") == .refused)
        #expect(meaning(413, reason: "PayloadTooLarge") == .refused)
        #expect(meaning(429, reason: "TooManyRequests") == .later(after: nil))
        #expect(meaning(429, reason: "TooManyProviderTokenUpdates") == .newConnection)
        #expect(meaning(500, reason: "InternalServerError") == .later(after: nil))
        #expect(meaning(503, reason: "ServiceUnavailable") == .later(after: nil))
        #expect(meaning(503, reason: "Shutdown") == .newConnection)
    }

    @Test func `an unknown reason is kept and treated by its status`() {
        let answer = APNSAnswer(status: 400, body: Array("{\"reason\":\"BrandNew\"}".utf8), now: now)
        #expect(answer.reason == "BrandNew")
        #expect(answer.meaning == .refused)
        #expect(meaning(429, reason: "BrandNew") == .later(after: nil))
        #expect(meaning(599, "<html>") == .later(after: nil))
        #expect(meaning(403, reason: "BrandNew") == .denied)
        #expect(meaning(410, reason: "BrandNew") == .tokenDead(at: now))
        #expect(meaning(503, reason: "BrandNew") == .later(after: nil))
        // A person hears of it, once.
        let strange = StrangeReasons()
        #expect(strange.isNews(answer))
        #expect(!strange.isNews(answer))
        #expect(!strange.isNews(APNSAnswer(status: 200, body: [], now: now)))
        #expect(meaning(418, "") == .refused)
    }

    @Test func `410 carries the time of death in milliseconds`() {
        #expect(
            meaning(410, #"{"reason":"Unregistered","timestamp":1454402113123}"#)
                == .tokenDead(at: Timestamp(millisecondsSince1970: 1_454_402_113_123)))
        #expect(meaning(410, reason: "ExpiredToken") == .tokenDead(at: now))
        #expect(meaning(410, #"{"reason":"Unregistered","timestamp":1e300}"#) == .tokenDead(at: now))
    }

    @Test func `Retry-After is honoured where it appears`() {
        #expect(meaning(503, retryAfter: "3") == .later(after: .seconds(3)))
    }
}

@Suite struct `Provider token` {
    @Test func `the JWT is as Apple wants it and is renewed between 20 and 55 minutes`() throws {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_790_000_000))
        let key = try ES256PrivateKey.generate()
        let token = ProviderToken(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: clock.wallClock)
        let first = try token.current()
        let parts = first.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        func json(_ part: String) throws -> NSDictionary {
            let bytes = try #require(Base64URL.decode(part))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
        }
        #expect(try json(parts[0]) == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(try json(parts[1]) == ["iss": "DEF123GHIJ", "iat": 1_790_000_000])
        #expect(Base64URL.decode(parts[2])?.count == 64)

        clock.advance(by: .seconds(44 * 60))
        #expect(try token.current() == first)
        clock.advance(by: .seconds(2 * 60))
        let second = try token.current()
        #expect(second != first)
        // APNs calls it expired although it is young: a clock is wrong, and no flood of new ones begins.
        #expect(!token.expire(second))
        #expect(try token.current() == second)
        clock.advance(by: .seconds(21 * 60))
        #expect(token.expire(second))
        let third = try token.current()
        #expect(third != second)
        // The other pushes that went out with it are told the same: nothing is wrong, and there is a new one already.
        #expect(token.expire(second))
        #expect(try token.current() == third)
    }

    @Test func `after APNs has had too many none is made for twenty minutes, unless it would be an hour old`() throws {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_790_000_000))
        let token = ProviderToken(
            key: try ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: clock.wallClock)
        let first = try token.current()
        clock.advance(by: .seconds(30 * 60))
        token.keep()
        clock.advance(by: .seconds(19 * 60))
        #expect(try token.current() == first)
        clock.advance(by: .seconds(2 * 60))
        let second = try token.current()
        #expect(second != first)
        clock.advance(by: .seconds(44 * 60))
        token.keep()
        clock.advance(by: .seconds(10 * 60))
        #expect(try token.current() == second)
        clock.advance(by: .seconds(2 * 60))
        #expect(try token.current() != second)
    }

    @Test func `a clock that was set back gets a new one`() throws {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_790_000_000))
        let token = ProviderToken(
            key: try ES256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: clock.wallClock)
        let first = try token.current()
        clock.advance(by: .seconds(-3600))
        #expect(try token.current() != first)
    }
}

@Suite struct `APNs addresses` {
    @Test func `one address serves both, two are told apart, and only https is taken`() throws {
        let one = try #require(APNSAddresses("https://localhost:4443"))
        #expect(one[.production] == one[.sandbox])
        #expect(one[.production] == APNSAddresses.Address(host: "localhost", port: 4443))
        let two = try #require(APNSAddresses("sandbox=https://s,production=https://p:2197"))
        #expect(two[.sandbox] == APNSAddresses.Address(host: "s", port: 443))
        #expect(two[.production] == APNSAddresses.Address(host: "p", port: 2197))
        for bad in ["http://localhost", "", "production=https://p", "localhost:443", "https://"] {
            #expect(APNSAddresses(bad) == nil, "\(bad)")
        }
        #expect(APNSAddresses(APNSAddresses.apple)?[.production].host == "api.push.apple.com")
    }
}

@Suite struct `Clock skew` {
    private let theirs = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func `an HTTP date is read, and nothing else`() {
        #expect(ClockSkew.seconds(theirs) == 784_111_777)
        for bad in ["", "now", "784111777", "1994-11-06T08:49:37Z"] { #expect(ClockSkew.seconds(bad) == nil, "\(bad)") }
    }

    @Test(arguments: [(0.0, 0), (29, 0), (31, 1), (-31, 1), (3600, 1)])
    func `a clock that is off by more than half a minute is warned about, once in a while`(
        offset: Double, warnings: Int
    ) {
        let lines = Locked<[String]>([])
        let log = Log(service: "test") { line in lines.withLock { $0.append(line) } }
        let clock = ManualClock(Date(timeIntervalSince1970: 784_111_777 + offset))
        let metrics = Metrics()
        let skew = ClockSkew(clock: clock.wallClock, log: log, metrics: metrics)
        for header in [nil, theirs, theirs, "rubbish"] { skew.note(header) }
        #expect(lines.withLock { $0.count } == warnings)
        #expect(metrics.render().contains("isthmus_apns_clock_skew_seconds \(Int(offset))"))
    }
}
