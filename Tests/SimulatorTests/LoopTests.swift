import Foundation
import HTTPClient
import Shared
import TestSupport
import Testing

@testable import Simulator

@Suite struct LoopTests {
    /// An agent that answers every text and shows its number of texts as calories.
    private func answerEverything(_ rig: Rig, replies: Bool = true, islands: Bool = true) {
        rig.services.onWebhook { webhook in
            let handle = webhook.json["data"]?["sender_handle"]?["handle"] ?? ""
            let chat = webhook.json["data"]?["chat"]?["id"]?.string ?? ""
            if replies {
                let message: JSONValue = [
                    "parts": [["type": "text", "value": "Logged."]],
                    "idempotency_key": .string("reply-\(webhook.header("webhook-id") ?? "")"),
                ]
                _ = try? await rig.linq("POST", "/chats/\(chat)/messages", ["message": message])
            }
            guard islands, let user = handle.string.flatMap(rig.server.world.phones.userID),
                let phone = rig.server.world.phones.phones(of: user).first
            else { return }
            if let update = phone.cards.first?.token {
                let next = (phone.cards.first?.timestamp ?? 0) + 1
                let time = max(next, Int64(Date().timeIntervalSince1970))
                _ = try? await rig.push(Rig.update(1200, timestamp: time), to: update)
            } else if let start = phone.startTokens["CoachAttributes"] {
                _ = try? await rig.push(Rig.start(600), to: start)
            }
        }
    }

    @Test func `say returns the reply and the Island, the first by a start and the second by an update`() async throws {
        try await Rig.with { rig in
            answerEverything(rig)
            let asked: JSONValue = ["from": "+12025550123", "text": "chicken bowl, ~600 cal", "timeoutSeconds": 10]
            let first = try await rig.control("POST", "/say", asked)
            #expect(first.status == 200, "\(first.json.text)")
            #expect(first.json["reply"] == "Logged.")
            #expect(first.json["island"]?["contentState"]?["calories"] == 600)
            let second = try await rig.control("POST", "/say", asked)
            #expect(second.json["island"]?["contentState"]?["calories"] == 1200)
            let state = try await rig.phone(of: "+12025550123")
            #expect(state["cards"]?.array?.count == 1)
            let counts = try await rig.control("GET", "/counts").json
            #expect(counts["linq"]?["textsUnanswered"] == 0)
            #expect(counts["linq"]?["repliesDoubled"] == 0)
            #expect(counts["islands"] == 1)
        }
    }

    @Test(arguments: [(true, false, "the Island"), (false, true, "the reply")])
    func `say names what did not come`(replies: Bool, islands: Bool, missing: String) async throws {
        try await Rig.with { rig in
            answerEverything(rig, replies: replies, islands: islands)
            let asked: JSONValue = ["from": "+12025550123", "text": "hello", "timeoutSeconds": 4]
            let answer = try await rig.control("POST", "/say", asked)
            #expect(answer.status == 504)
            #expect(answer.json["missing"] == [.string(missing)])
        }
    }

    @Test func `an SMS needs no Island`() async throws {
        try await Rig.with { rig in
            answerEverything(rig, islands: false)
            let asked: JSONValue = ["from": "+12025550123", "text": "hello", "service": "SMS", "timeoutSeconds": 10]
            let answer = try await rig.control("POST", "/say", asked)
            #expect(answer.status == 200)
        }
    }

    @Test func `somebody new registers handle, start token and then the card's token`() async throws {
        try await Rig.with { rig in
            answerEverything(rig)
            _ = try await rig.control("POST", "/say", ["from": "+12025550123", "text": "hi", "timeoutSeconds": 10])
            try await eventually("the update token is registered") {
                rig.services.requests.contains { $0.path.contains("/activities/") }
            }
            let calls = rig.services.requests.filter { $0.method == "PUT" }
            let paths = calls.map(\.path)
            let base = "/v1/users/user-12025550123"
            #expect(paths.first == "\(base)/handles")
            #expect(calls.first?.header("authorization") == "Bearer backend")
            #expect(calls.first?.json["handles"] == ["+12025550123"])
            #expect(paths.dropFirst().first == "\(base)/devices/phone-1-user-12025550123/start-token")
            let activity = try #require(calls.last)
            #expect(activity.path.hasPrefix("\(base)/devices/phone-1-user-12025550123/activities/"))
            #expect(activity.json["attributesType"] == "CoachAttributes")
            #expect(activity.json["sessionID"] == "session-1")
            let phone = try #require(rig.server.world.phones.phone("phone-1-user-12025550123"))
            #expect(activity.json["token"]?.string == phone.cards.first?.token)
            let claims = try #require(activity.header("authorization")).split(separator: ".")
            #expect(claims.count == 3)
        }
    }

    @Test func `the app says where the phone is, its own machine's time zone unless told otherwise`() async throws {
        try await Rig.with { rig in
            let phones: JSONValue = [
                ["deviceID": "here"], ["deviceID": "there", "timeZone": "Asia/Tokyo", "locale": "ja_JP"],
            ]
            let user: JSONValue = ["userID": "u", "handles": ["+12025550123"], "phones": phones]
            let made = try await rig.control("POST", "/users", user)
            #expect(made.status == 200)
            let tokens = rig.services.requests.filter { $0.path.hasSuffix("/start-token") }.map(\.json)
            #expect(tokens.map { $0["timeZone"]?.string } == [TimeZone.current.identifier, "Asia/Tokyo"])
            #expect(tokens.map { $0["locale"]?.string } == ["en_US", "ja_JP"])
            let lost: JSONValue = ["deviceID": "x", "timeZone": "Nowhere"]
            let refused = try await rig.control("POST", "/users", ["userID": "v", "handles": [], "phones": [lost]])
            #expect(refused.status == 400)
        }
    }

    @Test func `somebody whom the registry does not take is tried again with the next text`() async throws {
        try await Rig.with { rig in
            rig.services.refuseRegistrations(true)
            let text: JSONValue = ["from": "+12025550123", "text": "hi"]
            let refused = try await rig.control("POST", "/texts", text)
            #expect(refused.status == 502)
            #expect(rig.services.webhooks.isEmpty)
            rig.services.refuseRegistrations(false)
            #expect(try await rig.control("POST", "/texts", text).status == 202)
            #expect(try await rig.phone(of: "+12025550123")["startTokens"] != nil)
        }
    }

    @Test func `what the registry refused an old token is said again with the next one`() async throws {
        try await Rig.with { rig in
            answerEverything(rig)
            _ = try await rig.control("POST", "/say", ["from": "+12025550123", "text": "hi", "timeoutSeconds": 10])
            rig.services.refuseRegistrations(true)
            let asked = rig.services.requests.count
            let rotated = try await rig.control("POST", "/phones/phone-1-user-12025550123/rotate-tokens")
            #expect(rotated.status == 200)
            try await eventually("the app was refused") { rig.services.requests.count > asked }
            rig.services.refuseRegistrations(false)
            try await eventually("it was heard") {
                let said = try await rig.phone(of: "+12025550123")["registrations"]?.array
                return said?.contains { $0["status"] == 200 && ($0["tries"]?.integer ?? 0) > 1 } ?? false
            }
        }
    }

    @Test func `a swiped card is told to the registry`() async throws {
        try await Rig.with { rig in
            answerEverything(rig)
            _ = try await rig.control("POST", "/say", ["from": "+12025550123", "text": "hi", "timeoutSeconds": 10])
            let dismissed = try await rig.control("POST", "/phones/phone-1-user-12025550123/dismiss")
            #expect(dismissed.status == 200)
            #expect(dismissed.json["cards"] == [])
            try await eventually("the dismissal is told") {
                rig.services.requests.contains { $0.method == "DELETE" && $0.path.contains("/activities/") }
            }
            #expect(try await rig.control("POST", "/phones/nobody/dismiss").status == 404)
            #expect(try await rig.control("POST", "/phones/phone-1-user-12025550123/explode").status == 400)
        }
    }

    @Test func `a load run counts what came back`() async throws {
        try await Rig.with(environment: ["SIMULATOR_ONBOARD": "no"]) { rig in
            answerEverything(rig)
            let asked: JSONValue = ["users": 5, "texts": 23, "concurrency": 3]
            #expect(try await rig.control("POST", "/load", asked).status == 202)
            try await eventually("the run is done") {
                try await rig.control("GET", "/load").json["phase"] == "done"
            }
            try await eventually("every text is answered") {
                try await rig.control("GET", "/counts").json["linq"]?["textsUnanswered"] == 0
            }
            let counts = try await rig.control("GET", "/counts").json
            #expect(counts["linq"]?["textsReceived"] == 23)
            #expect(counts["linq"]?["repliesAccepted"] == 23)
            #expect(counts["linq"]?["repliesDoubled"] == 0)
            #expect(counts["replySeconds"]?["count"] == 23)
            #expect(counts["webhooks"]?["taken"] == 23)
            #expect(Set(rig.services.webhooks.map { $0.json["data"]?["sender_handle"]?["handle"]?.string }).count == 5)
        }
    }

    @Test func `the clock can be moved and cards grow old`() async throws {
        try await Rig.with { rig in
            answerEverything(rig)
            _ = try await rig.control("POST", "/say", ["from": "+12025550123", "text": "hi", "timeoutSeconds": 10])
            _ = try await rig.control("POST", "/clock", ["advanceSeconds": 28_800])
            let phone = try await rig.phone(of: "+12025550123")
            #expect(phone["island"] == nil)
            #expect(phone["cards"]?.array?.first?["phase"] == "ended")
        }
    }

    @Test func `an open page is told at once and whenever something changes`() async throws {
        try await Rig.with(environment: ["SIMULATOR_ONBOARD": "no"]) { rig in
            let log = rig.directory + "/events"
            let url = "http://127.0.0.1:\(rig.server.port)/events?user=%2B12025550123"
            let curl = try LocalProcess.start(
                "/usr/bin/curl", ["-sN", url], environment: ["PATH": "/usr/bin:/bin"], logFile: log)
            defer { curl.kill() }
            func heard() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }
            try await eventually("the first state comes") { try heard().contains("event: state") }
            #expect(try !heard().contains("good morning"))
            _ = try await rig.control("POST", "/texts", ["from": "+12025550123", "text": "good morning"])
            try await eventually("the text is seen") { try heard().contains("good morning") }
        }
    }

    @Test func `the page and its files are served, and nothing else`() async throws {
        try await Rig.with { rig in
            let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../Services/Simulator/Page")
            let files = try FileManager.default.contentsOfDirectory(atPath: page.path).filter { $0 != "index.html" }
            #expect(files.count > 30)
            let types = ["css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]
            for (path, type) in [("/", "text/html")]
                + files.map({ ("/" + $0, types[String($0.split(separator: ".")[1])]) })
            {
                let type = try #require(type)
                let answer = try await rig.send("GET", path, nil, headers: [])
                #expect(answer.status == 200)
                #expect(answer.response.header("content-type")?.hasPrefix(type) == true)
                #expect(!answer.response.body.isEmpty)
            }
            #expect(try await rig.send("GET", "/../etc/passwd", nil, headers: []).status >= 400)
            #expect(try await rig.send("GET", "/control/state", nil, headers: []).status == 400)
            #expect(try await rig.control("POST", "/texts", ["from": "nobody", "text": "x"]).status == 400)
            #expect(try await rig.control("POST", "/texts", ["from": 5]).status == 400)
        }
    }
}
