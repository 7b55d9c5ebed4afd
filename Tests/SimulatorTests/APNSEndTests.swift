import Crypto
import Foundation
import HTTP2
import Runtime
import Shared
import TestSupport
import Testing

@testable import Simulator

@Suite struct APNSEndTests {
    /// Runs `body` with a rig, a user's phone and its start token.
    private func withPhone(
        environment: [String: String] = [:], _ body: (Rig, String) async throws -> Void
    ) async throws {
        try await Rig.with(environment: environment) { rig in
            let user: JSONValue = [
                "userID": "u", "handles": ["+12025559876"], "phones": [["deviceID": "d"]],
            ]
            #expect(try await rig.control("POST", "/users", user).status == 200)
            let token = try #require(rig.server.world.phones.phone("d")?.startTokens["CoachAttributes"])
            try await body(rig, token)
        }
    }

    private func reason(_ response: HTTP2Response) -> String {
        (try? JSONValue(parsing: response.body))?["reason"]?.string ?? ""
    }

    @Test func `a start and an update reach the Island`() async throws {
        try await withPhone { rig, token in
            let id = "0B1F6A1E-6D0E-4E0C-9E52-0F4C0A9F1D10"
            let started = try await rig.push(Rig.start(600), to: token, ["apns-id": id])
            #expect(started.status == 200)
            #expect(started.body.isEmpty)
            #expect(started.header("apns-id") == id.lowercased())
            #expect(started.header("apns-unique-id") == nil)
            let update = try #require(rig.server.world.phones.phone("d")?.cards.first?.token)
            let now = Int64(Date().timeIntervalSince1970)
            let updated = try await rig.push(Rig.update(1240, timestamp: now + 1), to: update.uppercased())
            #expect(updated.status == 200)
            #expect(isUUID(updated.header("apns-id") ?? ""))
            let island = try await rig.phone(of: "u")["island"]
            #expect(island?["contentState"]?["calories"] == 1240)
            #expect(island?["sessionID"] == "session-1")
        }
    }

    private static let refusals: [([String: String?], Int, String)] = [
        (["apns-topic": nil], 400, "MissingTopic"),
        (["apns-topic": "com.example.coach"], 400, "BadTopic"),
        (["apns-topic": "com.other.app.push-type.liveactivity"], 400, "DeviceTokenNotForTopic"),
        (["apns-push-type": "alert"], 400, "InvalidPushType"),
        (["apns-push-type": nil], 400, "InvalidPushType"),
        (["apns-priority": "1"], 400, "BadPriority"),
        (["apns-priority": "high"], 400, "BadPriority"),
        (["apns-expiration": "soon"], 400, "BadExpirationDate"),
        (["apns-id": "1234"], 400, "BadMessageId"),
        (["apns-collapse-id": String(repeating: "c", count: 65)], 400, "BadCollapseId"),
        (["authorization": nil], 403, "MissingProviderToken"),
        (["authorization": "basic abc"], 403, "MissingProviderToken"),
        (["authorization": "bearer abc"], 403, "InvalidProviderToken"),
        (["authorization": "bearer a.b.c"], 403, "InvalidProviderToken"),
    ]

    @Test func `each wrong header is refused with Apple's reason`() async throws {
        try await withPhone { rig, token in
            for (changes, status, reason) in Self.refusals {
                let response = try await rig.push(Rig.start(1), to: token, changes)
                #expect(response.status == status, "\(reason)")
                #expect(self.reason(response) == reason)
            }
            #expect(rig.server.world.phones.phone("d")?.cards.isEmpty == true)
        }
    }

    @Test func `method, path, token and size are checked`() async throws {
        try await withPhone { rig, token in
            let cases: [(HTTP2Response, Int, String)] = [
                (try await rig.push("{}", to: token, method: "GET"), 405, "MethodNotAllowed"),
                (try await rig.push("{}", to: token, path: "/4/device/\(token)"), 404, "BadPath"),
                (try await rig.push("{}", to: token, path: "/3/device/"), 400, "MissingDeviceToken"),
                (try await rig.push("{}", to: "xyz"), 400, "BadDeviceToken"),
                (try await rig.push("{}", to: "00ff00ff"), 400, "BadDeviceToken"),
                (try await rig.push("", to: token), 400, "PayloadEmpty"),
                (try await rig.push(String(repeating: " ", count: 4097), to: token), 413, "PayloadTooLarge"),
                (try await rig.push(String(repeating: " ", count: 4096), to: token), 200, ""),
            ]
            for (response, status, reason) in cases {
                #expect(response.status == status, "\(reason)")
                #expect(self.reason(response) == reason)
            }
        }
    }

    @Test func `tokens of the other environment are bad, and the sandbox says its own id`() async throws {
        try await withPhone(environment: ["APNS_ENVIRONMENT": "sandbox"]) { rig, token in
            let response = try await rig.push(Rig.start(1), to: token)
            #expect(response.status == 200)
            #expect(isUUID(response.header("apns-unique-id") ?? ""))
            let user: JSONValue = [
                "userID": "u", "handles": ["+12025559876"],
                "phones": [["deviceID": "other", "environment": "production"]],
            ]
            _ = try await rig.control("POST", "/users", user)
            let other = try #require(rig.server.world.phones.phone("other")?.startTokens["CoachAttributes"])
            #expect(reason(try await rig.push(Rig.start(1), to: other)) == "BadDeviceToken")
        }
    }

    @Test func `a dead token is gone with the time of its death`() async throws {
        try await withPhone { rig, token in
            _ = try await rig.push(Rig.start(600), to: token)
            let update = try #require(rig.server.world.phones.phone("d")?.cards.first?.token)
            let before = Int64(Date().timeIntervalSince1970 * 1000)
            #expect(try await rig.control("POST", "/phones/d/dismiss").status == 200)
            let gone = try await rig.push(Rig.update(1), to: update)
            #expect(gone.status == 410)
            #expect(reason(gone) == "ExpiredToken")
            let time = try #require(try JSONValue(parsing: gone.body)["timestamp"]?.integer)
            #expect(time >= before - 1 && time < before + 60_000)
            #expect(try await rig.control("POST", "/phones/d/reinstall").status == 200)
            #expect(reason(try await rig.push(Rig.start(1), to: token)) == "Unregistered")
        }
    }

    @Test func `provider tokens are checked for key, team, age and kind`() async throws {
        try await withPhone { rig, token in
            let now = Int64(Date().timeIntervalSince1970)
            let cases: [(String, String)] = [
                (try rig.providerToken(issuedAt: .integer(now - 3700)), "ExpiredProviderToken"),
                (try rig.providerToken(issuedAt: .string("\(now)")), "InvalidProviderToken"),
                (try rig.providerToken(issuedAt: .integer(now + 600)), "InvalidProviderToken"),
                (try rig.providerToken(team: "OTHERTEAM1"), "InvalidProviderToken"),
                (try rig.providerToken(keyID: "OTHERKEY12"), "InvalidProviderToken"),
                (try rig.providerToken(key: .generate()), "InvalidProviderToken"),
                (try rig.providerToken(issuedAt: .integer(now - 3500)), ""),
            ]
            for (provider, expected) in cases {
                let response = try await rig.push(Rig.start(1), to: token, ["authorization": "bearer \(provider)"])
                #expect(reason(response) == expected)
            }
            let second = try rig.providerToken(issuedAt: .integer(now - 60))
            let once = try await rig.push(Rig.start(1), to: token, ["authorization": "bearer \(second)"])
            #expect(once.status == 200)
            let third = try rig.providerToken(issuedAt: .integer(now - 30))
            let changed = try await rig.push(Rig.start(1), to: token, ["authorization": "bearer \(third)"])
            #expect(changed.status == 429)
            #expect(reason(changed) == "TooManyProviderTokenUpdates")
        }
    }

    private static let faults: [(APNSFault, Int, String)] = [
        (.tooManyRequests, 429, "TooManyRequests"), (.error, 500, "InternalServerError"),
        (.unavailable, 503, "ServiceUnavailable"), (.shutdown, 503, "Shutdown"), (.gone, 410, "Unregistered"),
        (.goneLongAgo, 410, "Unregistered"), (.badDeviceToken, 400, "BadDeviceToken"),
        (.expiredProviderToken, 403, "ExpiredProviderToken"),
    ]

    @Test func `faults that are answers`() async throws {
        try await withPhone { rig, token in
            for (fault, status, reason) in Self.faults {
                _ = try await rig.control("POST", "/faults", ["apns": .string(fault.rawValue)])
                let response = try await rig.push(Rig.start(1), to: token)
                #expect(response.status == status)
                #expect(self.reason(response) == reason)
            }
            #expect(try await rig.push(Rig.start(1), to: token).status == 200)
        }
    }

    @Test func `faults that are no answer`() async throws {
        try await withPhone { rig, token in
            _ = try await rig.push(Rig.start(1), to: token)
            let update = try #require(rig.server.world.phones.phone("d")?.cards.first?.token)
            let now = Int64(Date().timeIntervalSince1970)
            let cases: [(APNSFault, HTTP2Error.Outcome, Int64)] = [
                (.reset, .unknown, 1), (.refuseStream, .notProcessed, 1), (.resetAfterAccepting, .unknown, 2),
            ]
            for (fault, outcome, calories) in cases {
                _ = try await rig.control("POST", "/faults", ["apns": .string(fault.rawValue)])
                let error = await #expect(throws: HTTP2Error.self) {
                    try await rig.push(Rig.update(2, timestamp: now + 1), to: update)
                }
                #expect(error?.outcome == outcome, "\(fault)")
                let island = try await rig.phone(of: "u")["island"]
                #expect(island?["contentState"]?["calories"]?.integer == calories, "\(fault)")
            }
            _ = try await rig.control("POST", "/faults", ["apns": "hang"])
            await #expect(throws: HTTP2Error.self) {
                let request = HTTP2Request(method: "POST", path: "/3/device/\(update)", body: Array("{}".utf8))
                _ = try await rig.http2.send(request, within: .milliseconds(300))
            }
        }
    }

    private func early(_ rig: Rig) async throws -> Int64? {
        try await rig.control("GET", "/counts").json["apns"]?["early"]?.integer
    }

    @Test func `a sender that waits for its first answer is never early`() async throws {
        try await withPhone { rig, token in
            let request = try rig.pushRequest(Rig.start(1), to: token)
            let statuses = Locked<[Int?]>([])
            for _ in 0..<8 {
                rig.http2.send(request, within: .seconds(30)) { result in
                    let status =
                        if case .success(let response) = result { response.status as Int? } else { nil as Int? }
                    statuses.withLock { $0.append(status) }
                }
            }
            try await eventually("all are answered") { statuses.withLock { $0.count } == 8 }
            #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 8))
            #expect(try await early(rig) == 0)
        }
    }

    @Test func `a sender that does not wait for its first answer is found out`() async throws {
        try await withPhone { rig, token in
            let client = try HTTP2Client(
                host: "localhost", port: rig.server.apnsPort, caFile: "\(rig.directory)/ca.pem", name: "eager",
                log: Log(service: "test", level: .error), metrics: Metrics())
            let request = try rig.pushRequest(Rig.start(1), to: token)
            _ = try await rig.control("POST", "/faults", ["apns": "hang"])
            client.send(request, within: .seconds(30)) { _ in }
            #expect(try await client.send(request, within: .seconds(30)).status == 200)
            await client.close()
            #expect(try await early(rig) == 1)
        }
    }

    @Test func `after GOAWAY pushes go on over a new connection`() async throws {
        try await withPhone { rig, token in
            _ = try await rig.control("POST", "/faults", ["apns": "go-away"])
            #expect(try await rig.push(Rig.start(1), to: token).status == 200)
            try await eventually("a push gets through again") {
                try await rig.push(Rig.start(1), to: token).status == 200
            }
        }
    }
}
