import Database
import Foundation
import HTTPServer
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

/// What is stored and what follows from it, on both databases.
@Suite struct StoreTests {
    enum Engine: CaseIterable, Sendable { case sqlite, postgres }

    func withBench<R>(_ engine: Engine, _ body: (Bench) async throws -> R) async throws -> R {
        switch engine {
        case .sqlite: try await Bench.with(body)
        case .postgres:
            try await PrivatePostgreSQL.with { server in try await Bench.with(url: server.url, body) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a handle leads to the user's devices, tokens and cards`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            try await bench.registerSam()
            _ = try await bench.call(
                "PUT", "/v1/users/sam/devices/phone/start-token",
                startToken("aa", #","environment":"sandbox","bundleID":"com.example.app","wantsInputPushToken":true"#))
            _ = try await bench.call("PUT", "/v1/users/sam/devices/pad/activities/A", activity("bb", session: "s1"))
            let record = try await bench.record("+12025559876")
            #expect(record.userID == "sam")
            #expect(record.canonicalHandle == "+12025559876")
            #expect(record.generation > 0)
            let phone = try #require(record.devices.first { $0.deviceID == "phone" }?.startTokens.first)
            #expect(phone.token == token("aa"))
            #expect(phone.environment == .sandbox)
            #expect(phone.bundleID == "com.example.app")
            #expect(phone.wantsInputPushToken)
            let card = try #require(record.devices.first { $0.deviceID == "pad" }?.activities.first)
            #expect(card.state == .live)
            #expect(card.sessionID == "s1")
            #expect(card.token == token("bb"))
            #expect(try await bench.record("+12025550000") == .unknown("+12025550000"))
            #expect(try await bench.record("12345") == .unknown("12345"))
        }
    }

    @Test(arguments: Engine.allCases)
    func `the loop of a session, from start token to end`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            let reachable = IslandReachable(
                userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: nil)
            let identity = IdentityChanged(userID: "sam", canonicalHandle: "+12025559876")
            #expect(
                try await bench.events() == [
                    InboundEvent(handle: "+12025559876", content: .identityChanged(identity)),
                    InboundEvent(handle: "+12025559876", content: .islandReachable(reachable)),
                ])
            #expect(try await bench.start("s1") == .granted)
            #expect(try await bench.start("s1", request: "another") != .granted)
            #expect(try await bench.events().isEmpty)
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb", session: "s1"))
            let live = IslandReachable(userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: "s1")
            #expect(
                try await bench.events() == [InboundEvent(handle: "+12025559876", content: .islandReachable(live))])
            try await bench.perform(
                .environmentLearned(.init(userID: "sam", token: token("bb"), environment: .sandbox)))
            var cards = try await bench.record("+12025559876").devices.flatMap(\.activities)
            #expect(cards.map(\.environment) == [.sandbox])
            let ended = RegistryCommand.activityEnded(
                .init(userID: "sam", deviceID: "phone", attributesType: "Coach", token: token("bb")))
            try await bench.perform(ended)
            let once = try await bench.record("+12025559876")
            try await bench.perform(ended)
            #expect(try await bench.record("+12025559876") == once)
            cards = once.devices.flatMap(\.activities)
            #expect(cards.map(\.state) == [.ended])
        }
    }

    @Test(arguments: Engine.allCases)
    func `of many that ask at once for the same start, one is granted it`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            try await bench.registerSam()
            for round in 0..<5 {
                let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for asker in 0..<4 {
                        group.addTask { try await bench.start("s\(round)", request: "\(asker)") == .granted }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(granted == 1)
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `handle moves to another user`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876","sam@example.com"]}"#)
            _ = try await bench.events()
            let before = try await bench.record("+12025559876").generation
            // Not by the word of a token that does not prove it.
            for claims in [
                "", #","phone_number":"+12025559876""#,
                #","phone_number":"+12025559876","phone_number_verified":false"#,
                #","phone_number":"+12025550000","phone_number_verified":true"#,
            ] {
                let kim = try bench.signer.token("kim", claims, at: bench.clock)
                let answer = try await bench.call(
                    "PUT", "/v1/users/kim/handles", #"{"handles":["+12025559876"]}"#, by: kim)
                #expect(answer.status == 403)
            }
            #expect(try await bench.record("+12025559876").userID == "sam")
            let kim = try bench.signer.token(
                "kim", #","phone_number":"+12025559876","phone_number_verified":true"#, at: bench.clock)
            let answer = try await bench.call(
                "PUT", "/v1/users/kim/handles", #"{"handles":["+1 202 555 9876"]}"#, by: kim)
            #expect(answer.status == 204)
            let record = try await bench.record("+12025559876")
            #expect(record.userID == "kim")
            #expect(record.generation > before)
            #expect(try await bench.record("sam@example.com").canonicalHandle == "sam@example.com")
            let events = try await bench.events()
            #expect(
                Set(events.map(\.handle)) == ["+12025559876", "sam@example.com"])
            // Sam's state, which is kept with the number, is told to follow Sam before Kim's is.
            #expect(
                events.filter { $0.handle == "+12025559876" }.suffix(2)
                    == [
                        InboundEvent(
                            handle: "+12025559876",
                            content: .identityChanged(
                                IdentityChanged(userID: "sam", canonicalHandle: "sam@example.com"))),
                        InboundEvent(
                            handle: "+12025559876",
                            content: .identityChanged(IdentityChanged(userID: "kim", canonicalHandle: "+12025559876"))),
                    ])
            #expect(
                events.contains(
                    InboundEvent(
                        handle: "+12025559876",
                        content: .identityChanged(IdentityChanged(userID: "kim", canonicalHandle: "+12025559876")))))
            #expect(
                events.contains(
                    InboundEvent(
                        handle: "sam@example.com",
                        content: .identityChanged(IdentityChanged(userID: "sam", canonicalHandle: "sam@example.com")))))
        }
    }

    @Test func `a user's token adds what it proves, a backend key says the whole`() async throws {
        try await Bench.with { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["sam@example.com"]}"#)
            let sam = try bench.signer.token(
                "sam", #","phone_number":"+12025559876","phone_number_verified":"true""#, at: bench.clock)
            let answer = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#, by: sam)
            #expect(answer.status == 204)
            #expect(
                try await bench.store.user("sam")?.handles.map(\.handle.text) == ["sam@example.com", "+12025559876"])
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            #expect(try await bench.store.user("sam")?.handles.map(\.handle.text) == ["+12025559876"])
            #expect(try await bench.record("sam@example.com").userID == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a token registered under a new user leaves the old one`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            try await bench.registerSam()
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb", session: "s1"))
            _ = try await bench.call("PUT", "/v1/users/kim/devices/phone/start-token", startToken("aa"))
            _ = try await bench.call("PUT", "/v1/users/kim/devices/phone/activities/A", activity("bb", session: "s9"))
            let sam = try #require(try await bench.store.user("sam"))
            #expect(sam.startTokens.isEmpty)
            #expect(sam.cards.map(\.token) == [nil])
            #expect(sam.cards.map(\.state) == [.ended])
            let kim = try #require(try await bench.store.user("kim"))
            #expect(kim.startTokens.map(\.token) == [token("aa")])
            #expect(kim.cards.map(\.state) == [.live])
            #expect(try await bench.start("s2", user: "sam") != .granted)
        }
    }

    @Test(arguments: Engine.allCases)
    func `the same token registered for many users at once ends up with one`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for user in 0..<6 {
                    group.addTask {
                        try await bench.call(
                            "PUT", "/v1/users/u\(user)/devices/phone/activities/A", activity("cc")
                        ).status
                    }
                }
                for try await status in group { #expect(status == 204) }
            }
            var owners = 0
            for user in 0..<6 {
                let cards = try await bench.store.user("u\(user)")?.cards ?? []
                owners += cards.filter { $0.token == token("cc") }.count
            }
            #expect(owners == 1)
        }
    }

    @Test func `several devices, kinds and environments stand side by side`() async throws {
        try await Bench.with { bench in
            for device in ["phone", "pad"] {
                for (kind, digits) in [("Coach", "a"), ("Order", "b")] {
                    let text = token(digits + (device == "pad" ? "1" : "2"))
                    let environment = device == "pad" ? "sandbox" : "production"
                    _ = try await bench.call(
                        "PUT", "/v1/users/sam/devices/\(device)/start-token",
                        #"{"attributesType":"\#(kind)","token":"\#(text)","environment":"\#(environment)"}"#)
                }
            }
            let user = try #require(try await bench.store.user("sam"))
            #expect(user.startTokens.count == 4)
            #expect(user.startTokens.filter { $0.environment == .sandbox }.count == 2)
            #expect(try await bench.start("s1", device: "phone") == .granted)
            #expect(try await bench.start("s1", device: "pad") == .granted)
        }
    }

    @Test func `one token for two kinds of one app is kept for both`() async throws {
        try await Bench.with { bench in
            for kind in ["Coach", "Order"] {
                _ = try await bench.call(
                    "PUT", "/v1/users/sam/devices/phone/start-token",
                    #"{"attributesType":"\#(kind)","token":"\#(token("aa"))"}"#)
            }
            #expect(try await bench.store.user("sam")?.startTokens.count == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `wrong 410 pruning a fresh token does not happen`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            try await bench.registerSam()
            let early = Timestamp(bench.clock.now)
            bench.clock.advance(by: .seconds(5))
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            let dead = { (at: Timestamp) in
                RegistryCommand.tokenDead(
                    .init(userID: "sam", token: token("aa"), at: at, reason: "Unregistered"))
            }
            try await bench.perform(dead(early))
            #expect(try await bench.store.user("sam")?.startTokens.count == 1)
            try await bench.perform(dead(Timestamp(bench.clock.now)))
            #expect(try await bench.store.user("sam")?.startTokens.isEmpty == true)
            #expect(try await bench.events().isEmpty)
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            #expect(try await bench.events().count == 1)
        }
    }

    @Test func `a command for a user that is not there makes none`() async throws {
        try await Bench.with { bench in
            try await bench.perform(.environmentLearned(.init(userID: "x", token: "aa", environment: .sandbox)))
            #expect(try await bench.store.user("x") == nil)
        }
    }

    @Test func `a registration that changes nothing but its time causes no event`() async throws {
        try await Bench.with { bench in
            try await bench.registerSam()
            let before = try await bench.record("+12025559876").generation
            bench.clock.advance(by: .seconds(60))
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            #expect(try await bench.events().isEmpty)
            #expect(try await bench.record("+12025559876").generation > before)
        }
    }

    @Test(arguments: Engine.allCases)
    func `generations of a handle only grow, over moves and erasures`(engine: Engine) async throws {
        try await withBench(engine) { bench in
            var last: Int64 = 0
            for user in ["sam", "kim", "sam", "lee"] {
                _ = try await bench.call("PUT", "/v1/users/\(user)/handles", #"{"handles":["+12025559876"]}"#)
                let generation = try await bench.record("+12025559876").generation
                #expect(generation > last)
                last = generation
                if user == "kim" { _ = try await bench.call("DELETE", "/v1/users/kim") }
            }
        }
    }

    @Test func `nothing that names a person or reaches a phone is readable in the file`() async throws {
        try await TemporaryDirectory.with { folder in
            try await Bench.with(url: "sqlite:\(folder)/registry.sqlite") { bench in
                try await bench.registerSam()
                _ = try await bench.call(
                    "PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876","sam@example.com"]}"#)
                _ = try await bench.call(
                    "PUT", "/v1/users/sam/devices/phone/activities/A", activity("0123456789abcdef"))
            }
            let needles =
                [
                    "+12025559876", "12025559876", "sam@example.com", token("aa"), token("0123456789abcdef"),
                ].map { Data($0.utf8) }
                + [token("aa"), token("0123456789abcdef")].compactMap { [UInt8](hex: $0) }.map { Data($0) }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!files.isEmpty)
            for file in files {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
                for needle in needles { #expect(bytes.range(of: needle) == nil, "\(file)") }
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a new key seals and the old one opens, until all is sealed anew`(engine: Engine) async throws {
        switch engine {
        case .sqlite:
            try await TemporaryDirectory.with { folder in try await rotate("sqlite:\(folder)/registry.sqlite") }
        case .postgres: try await PrivatePostgreSQL.with { server in try await rotate(server.url) }
        }
    }

    private func rotate(_ url: String) async throws {
        try await Bench.with(url: url, keys: .test(id: "k1")) { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["sam@example.com"]}"#)
            try await bench.registerSam()
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/activities/A", activity("bb"))
        }
        try await Bench.with(url: url, keys: .test(id: "k2", alsoOpens: "k1")) { bench in
            let record = try await bench.record("+12025559876")
            #expect(record.devices.count == 1)
            let resealing = Resealing(store: bench.store)
            let counts = [try await resealing.run(), try await resealing.run()]
            #expect(counts == [4, 0])
        }
        try await Bench.with(url: url, keys: .test(id: "k2")) { bench in
            let record = try await bench.record("+12025559876")
            #expect(record.devices.flatMap(\.startTokens).map(\.token) == [token("aa")])
            #expect(record.devices.flatMap(\.activities).map(\.token) == [token("bb")])
            #expect(try await bench.store.user("sam")?.formerHandles.map(\.text) == ["sam@example.com"])
        }
    }

    @Test func `a handle that comes after the tokens is told of them`() async throws {
        try await Bench.with { bench in
            _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
            #expect(try await bench.events().isEmpty)
            _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
            let reachable = IslandReachable(userID: "sam", deviceID: "phone", attributesType: "Coach", sessionID: nil)
            #expect(
                try await bench.events().last
                    == InboundEvent(handle: "+12025559876", content: .islandReachable(reachable)))
        }
    }
}
