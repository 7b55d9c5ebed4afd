import Foundation
import Runtime
import TestSupport
import Testing

@testable import RegistrationCore

/// What outlives the app's process, and what the user does, against the real registry.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LifeTests {
    @Test func `a process that is killed with calls on their way leaves them to the next launch`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                let killed = "\(folder)/killed"
                try await Gate.with(registry) { gate in
                    gate.close()
                    try await Phone.launch(
                        gate.url, folder: "\(folder)/app", signIn: { _ in try registry.jwt("sam") }
                    ) { phone in
                        await phone.startToken(0xAA)
                        await phone.show("A", session: "s1", token: 0xBB)
                        await phone.client.changed("A", to: .dismissed)
                        try await eventually("calls are on their way") { gate.seen.count == 2 }
                        // What is on the disk at this moment is what a killed process leaves.
                        try FileManager.default.copyItem(atPath: "\(folder)/app", toPath: killed)
                    }
                }
                try await Phone.launch(
                    registry.url, folder: killed, signIn: { _ in try registry.jwt("sam") }
                ) { phone in
                    try await eventually("all is told") { await phone.isAllTold() }
                    let view = try await registry.view("sam")
                    #expect(view.startTokens == ["aaaaaaaa"])
                    await phone.startToken(0xAB)
                    try await eventually("all is told") { await phone.isAllTold() }
                    // The same installation, not a second one.
                    #expect(try await registry.view("sam").devices.map(\.startTokens.count) == [1])
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: "\(killed)/bodies").isEmpty)
            }
        }
    }

    @Test func `a file that cannot be read stops nothing, and another user's reports are not sent`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                try Data("{".utf8).write(to: URL(fileURLWithPath: "\(folder)/pending.json"))
                try await Phone.launch(registry.url, folder: folder, signIn: { _ in throw Unexpected(what: "away") }) {
                    phone in
                    #expect(phone.events.withLock { $0.contains { if case .file = $0 { true } else { false } } })
                    await phone.startToken(0xAA)
                    #expect(await phone.client.pendingCount == 1)
                }
                try await Phone.launch(
                    registry.url, folder: folder, user: "kim", signIn: { _ in try registry.jwt("kim") }
                ) { phone in
                    #expect(await phone.isAllTold())
                    await phone.startToken(0xBB)
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(phone.refusals.isEmpty)
                }
                #expect(try await registry.view("sam").devices.isEmpty)
                #expect(try await registry.view("kim").startTokens == ["bbbbbbbb"])
            }
        }
    }

    @Test func `two phones of one user have their own tokens and cards`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                for (name, byte) in [("one", UInt8(0xA1)), ("two", 0xA2)] {
                    try await Phone.launch(
                        registry.url, folder: "\(folder)/\(name)", signIn: { _ in try registry.jwt("sam") }
                    ) { phone in
                        await phone.startToken(byte)
                        await phone.show("card-\(name)", session: "s1", token: byte)
                        try await eventually("all is told") { await phone.isAllTold() }
                    }
                }
                let view = try await registry.view("sam")
                #expect(view.devices.count == 2)
                #expect(Set(view.startTokens) == ["a1a1a1a1", "a2a2a2a2"])
                #expect(view.cards == ["card-one live", "card-two live"])
            }
        }
    }

    @Test func `a swipe is a dismissal, and what we end ourselves is none`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                try await Phone.launch(registry.url, folder: folder, signIn: { _ in try registry.jwt("sam") }) {
                    phone in
                    await phone.show("A", session: "s1", token: 0xA1)
                    await phone.show("B", session: "s2", token: 0xA2, kind: "OrderAttributes")
                    await phone.show("C", session: "s3", token: 0xA3, kind: "BalanceAttributes")
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(try await registry.view("sam").cards == ["A live", "B live", "C live"])
                    await phone.client.changed("A", to: .dismissed)
                    await phone.client.changed("B", to: .ended)
                    await phone.client.willEnd(["C"])
                    await phone.client.changed("C", to: .dismissed)
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(try await registry.view("sam").cards == ["A dismissed", "B ended", "C ended"])
                    #expect(phone.refusals.isEmpty)
                }
            }
        }
    }

    @Test func `at launch the newest card of a session stays, and the app ends the rest`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                let signIn: RegistrationClient.SignIn = { _ in try registry.jwt("sam") }
                try await Phone.launch(registry.url, folder: folder, signIn: signIn) { phone in
                    await phone.show("A", session: "s1", token: 0xA1)
                    await phone.show("gone", session: "s0", token: 0xA9, kind: "OrderAttributes")
                    try await eventually("all is told") { await phone.isAllTold() }
                    await phone.show("B", session: "s1", token: 0xA2)
                    try await eventually("the older one is ended") { phone.ended.withLock { $0 } == ["A"] }
                    await phone.client.changed("A", to: .dismissed)
                    try await eventually("all is told") { await phone.isAllTold() }
                }
                // Meanwhile the user swiped one away, which nobody saw, and a renewal came up.
                try await Phone.launch(registry.url, folder: folder, signIn: signIn) { phone in
                    await phone.client.refresh([.coach("B"): .active, .coach("C"): .active, .coach("A"): .ended])
                    await phone.client.token(Data(repeating: 0xA2, count: 32), of: "B")
                    await phone.client.token(Data(repeating: 0xA3, count: 32), of: "C")
                    await phone.client.reconcile()
                    try await eventually("the older one is ended") { phone.ended.withLock { $0.contains("B") } }
                    try await eventually("all is told") { await phone.isAllTold() }
                    #expect(!phone.ended.withLock { $0.contains("C") })
                    let cards = try await registry.view("sam").cards
                    #expect(cards == ["A ended", "B ended", "C live", "gone ended"])
                    #expect(phone.refusals.isEmpty)
                }
            }
        }
    }

    @Test func `signing out forgets what is not told`() async throws {
        try await RealRegistry.with { registry in
            try await TemporaryDirectory.with { folder in
                try await Phone.launch(registry.url, folder: folder, signIn: { _ in throw Unexpected(what: "away") }) {
                    phone in
                    await phone.startToken(0xAA)
                    #expect(await phone.client.pendingCount == 1)
                    await phone.client.forget()
                    #expect(await phone.isAllTold())
                }
                try await Phone.launch(registry.url, folder: folder, signIn: { _ in try registry.jwt("sam") }) {
                    phone in
                    #expect(await phone.isAllTold())
                }
            }
        }
    }
}
