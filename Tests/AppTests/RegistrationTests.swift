import Foundation
import HTTPServer
import Runtime
import TestSupport
import Testing

@testable import RegistrationCore

/// The app's client against the real registry.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RegistrationTests {
    /// One phone before a registry, with a gate between them.
    func withPhone(_ body: (Phone, RealRegistry, Gate) async throws -> Void) async throws {
        try await RealRegistry.with { registry in
            try await Gate.with(registry) { gate in
                try await TemporaryDirectory.with { folder in
                    try await Phone.launch(gate.url, folder: folder, signIn: { _ in try registry.jwt("sam") }) {
                        phone in
                        try await body(phone, registry, gate)
                    }
                }
            }
        }
    }

    @Test func `tokens and cards come to the registry as the phone has them`() async throws {
        try await withPhone { phone, registry, _ in
            await phone.client.refresh([:])
            await phone.startToken(0xAA)
            await phone.startToken(0xAB, kind: "OrderAttributes")
            await phone.show("A", session: "s1", token: 0xBB)
            await phone.client.reconcile()
            try await eventually("all is told") { await phone.isAllTold() }
            #expect(phone.ended.withLock { $0 }.isEmpty)
            let view = try await registry.view("sam")
            #expect(Set(view.startTokens) == ["aaaaaaaa", "abababab"])
            #expect(view.cards == ["A live"])
            #expect(view.devices.count == 1)
            let token = try #require(view.devices.first?.startTokens.first)
            #expect(token.environment == "sandbox" && token.bundleID == "com.example.app" && token.wantsInputPushToken)
            #expect(view.devices.first?.activities.first?.sessionID == "s1")
            #expect(view.devices.first?.activities.first?.token == "bbbbbbbb")
            #expect(phone.refusals.isEmpty)
        }
    }

    @Test func `the registry knows the time zone and the locale of the phone, and follows them`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                let places = [
                    ("Asia/Tokyo", "ja_JP@calendar=japanese;collation=unihan;hours=h23;numbers=jpan;ss=none", "ja_JP"),
                    ("America/New_York", "en_US", "en_US"),
                ]
                for (zone, locale, told) in places {
                    try await Phone.launch(
                        registry.url, folder: folder, timeZone: try #require(TimeZone(identifier: zone)),
                        locale: Locale(identifier: locale), signIn: { _ in try registry.jwt("sam") }
                    ) { phone in
                        await phone.startToken(0xAA)
                        try await eventually("all is told") { await phone.isAllTold() }
                        #expect(phone.refusals.isEmpty)
                        let view = try await registry.view("sam")
                        #expect(view.startTokens == ["aaaaaaaa"])
                        #expect(view.timeZone == zone)
                        #expect(view.locale == told)
                    }
                }
            }
        }
    }

    @Test func `an empty token is never sent, and a rotated one takes the old one's place`() async throws {
        try await withPhone { phone, registry, gate in
            await phone.startToken(0xAA)
            await phone.show("A", session: "s1", token: 0xBB)
            try await eventually("all is told") { await phone.isAllTold() }
            let calls = gate.seen.count
            await phone.client.startToken(Data(), of: "CoachAttributes")
            await phone.client.token(Data(), of: "A")
            #expect(await phone.isAllTold())
            await phone.startToken(0xAC)
            await phone.client.token(Data(repeating: 0xBD, count: 32), of: "A")
            try await eventually("all is told") { await phone.isAllTold() }
            let view = try await registry.view("sam")
            #expect(view.startTokens == ["acacacac"])
            #expect(view.devices.first?.activities.first?.token == "bdbdbdbd")
            #expect(gate.seen.count == calls + 2)
        }
    }

    @Test func `an expired JWT is renewed, once for all calls, and the closure is told which was refused`() async throws
    {
        try await RealRegistry.with { registry in
            let expired = try registry.jwt("sam", lifetime: -120)
            let refusals = Locked<[String?]>([])
            try await TemporaryDirectory.with { folder in
                try await Phone.launch(
                    registry.url, folder: folder,
                    signIn: { refused in
                        refusals.withLock { $0.append(refused) }
                        return refused == nil ? expired : try registry.jwt("sam")
                    }
                ) { phone in
                    for byte in 1...5 { await phone.startToken(UInt8(byte), kind: "Kind\(byte)") }
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(try await registry.view("sam").startTokens.count == 5)
                    #expect(refusals.withLock { $0 } == [nil, expired])
                }
            }
        }
    }

    @Test func `a sign-in that fails for a while is asked again, with pauses`() async throws {
        try await RealRegistry.with { registry in
            let asked = Locked(0)
            try await TemporaryDirectory.with { folder in
                try await Phone.launch(
                    registry.url, folder: folder,
                    signIn: { _ in
                        let count = asked.withLock { count in
                            count += 1
                            return count
                        }
                        if count == 2 { return "" }
                        guard count > 3 else { throw Unexpected(what: "the sign-in is away") }
                        return try registry.jwt("sam")
                    }
                ) { phone in
                    await phone.startToken(0xAA)
                    await phone.show("A", session: "s1", token: 0xBB)
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(asked.withLock { $0 } == 4)
                    #expect(try await registry.view("sam").cards == ["A live"])
                }
            }
        }
    }

    @Test func `errors of the registry are tried again, refusals are not`() async throws {
        try await withPhone { phone, registry, gate in
            gate.answer(
                HTTPResponse(status: 503, headers: [("Retry-After", "0")]), HTTPResponse(status: 500),
                HTTPResponse(status: 429, headers: [("Retry-After", "1")]), HTTPResponse(status: 401),
                HTTPResponse(status: 401))
            await phone.startToken(0xAA)
            try await eventually("all is told") { await phone.isAllTold() }
            #expect(try await registry.view("sam").startTokens == ["aaaaaaaa"])
            #expect(gate.seen == Array(repeating: "PUT start-token", count: 6))
            await phone.client.found(.coach("A\u{7}"))
            await phone.client.token(Data([1]), of: "A\u{7}")
            try await eventually("it is refused") { phone.refusals.count == 1 }
            #expect(phone.refusals == [.refused("activity A\u{7}", status: 400)])
            #expect(await phone.isAllTold())
        }
    }

    @Test func `a registry that is away is told when it is back`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                try await Phone.launch(registry.url, folder: folder, signIn: { _ in try registry.jwt("sam") }) {
                    phone in
                    registry.kill()
                    await phone.startToken(0xAA)
                    await phone.show("A", session: "s1", token: 0xBB)
                    try await eventually("it was tried twice") {
                        phone.events.withLock { $0.count { if case .putOff = $0 { true } else { false } } } > 3
                    }
                    await phone.startToken(0xAC)
                    try await registry.start()
                    try await eventually("all is told") { await phone.isAllTold() }
                    let view = try await registry.view("sam")
                    #expect(view.startTokens == ["acacacac"])
                    #expect(view.cards == ["A live"])
                }
            }
        }
    }

    @Test func `a call that is cancelled before its time is never made`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                let url = try #require(URL(string: "\(registry.url)/v1/users/sam/devices/phone/start-token"))
                let body = Data(
                    #"{"attributesType":"CoachAttributes","token":"\#(String(repeating: "a", count: 64))"}"#.utf8)
                let transport = try URLSessionTransport(
                    folder: URL(fileURLWithPath: folder), backgroundIdentifier: nil)
                var events = transport.events.makeAsyncIterator()
                func call(_ id: String) throws -> TransportCall {
                    TransportCall(
                        id: id, method: "PUT", url: url, jwt: try registry.jwt("sam"), body: body, hasFailed: true)
                }
                try transport.begin(try call("late"), after: 60)
                await transport.cancel(["late", "unknown"])
                guard case .failed("late", _) = await events.next() else {
                    return #expect(Bool(false), "it was not given up")
                }
                #expect(try await registry.view("sam").devices.isEmpty)
                try transport.begin(try call("soon"), after: 0.01)
                guard case .answered("soon", let answer) = await events.next() else {
                    return #expect(Bool(false), "it was not made")
                }
                #expect(answer.status == 204)
                transport.close()
            }
        }
    }

    @Test func `a newer token supersedes one that is on its way, and comes last`() async throws {
        try await withPhone { phone, registry, gate in
            gate.close()
            await phone.startToken(0x01)
            try await eventually("the first is on its way") { gate.seen.count == 1 }
            for byte in 2...9 { await phone.startToken(UInt8(byte)) }
            #expect(await phone.client.pendingCount == 2)
            gate.open()
            try await eventually("all is told") { await phone.isAllTold() }
            #expect(gate.seen.count == 2)
            #expect(try await registry.view("sam").startTokens == ["09090909"])
        }
    }
}
