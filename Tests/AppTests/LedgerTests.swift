import Foundation
import Shared
import Testing

@testable import RegistrationCore

@Suite struct LedgerTests {
    let token = Data([0x0A, 0xFF])
    let a = RunningActivity(id: "A", attributesType: "CoachAttributes", sessionID: "s1")
    let b = RunningActivity(id: "B", attributesType: "CoachAttributes", sessionID: "s1")
    let other = RunningActivity(id: "C", attributesType: "OrderAttributes", sessionID: "s2")

    @Test func `a token is told in hexadecimal, once, and an empty one never`() {
        var ledger = ActivityLedger()
        #expect(ledger.startToken(Data(), of: "CoachAttributes") == nil)
        let start = Report.startToken(attributesType: "CoachAttributes", token: "0aff")
        #expect(ledger.startToken(token, of: "CoachAttributes") == start)
        #expect(ledger.startToken(token, of: "CoachAttributes") == nil)
        #expect(ledger.startToken(token, of: "OrderAttributes") != nil)
        ledger.found(a)
        #expect(ledger.token(Data(), of: "A").isEmpty)
        #expect(ledger.token(token, of: "unknown").isEmpty)
        #expect(ledger.token(token, of: "A") == [.activity(a, token: "0aff")])
        #expect(ledger.token(token, of: "A").isEmpty)
        #expect(ledger.token(Data([1]), of: "A") == [.activity(a, token: "01")])
    }

    @Test func `with a second card of a kind the registry is asked which is to stay`() {
        var ledger = ActivityLedger()
        ledger.found(a)
        ledger.found(other)
        #expect(ledger.token(token, of: "A").count == 1)
        #expect(ledger.token(Data([3]), of: "C").count == 1)
        ledger.found(b)
        #expect(ledger.token(Data([2]), of: "B") == [.activity(b, token: "02"), .running(["A", "C", "B"])])
    }

    @Test func `a card ends once, and only a swipe is a dismissal`() {
        var ledger = ActivityLedger()
        ledger.found(a)
        #expect(ledger.changed("A", to: .active) == nil)
        #expect(ledger.changed("A", to: .dismissed) == .gone(a, .dismissed))
        #expect(ledger.changed("A", to: .dismissed) == nil)
        #expect(ledger.token(token, of: "A").isEmpty)
        ledger.found(b)
        #expect(ledger.changed("B", to: .ended) == .gone(b, .ended))
        #expect(ledger.changed("B", to: .dismissed) == nil)
        ledger.found(other)
        ledger.willEnd(["C"])
        #expect(ledger.changed("C", to: .dismissed) == .gone(other, .ended))
        #expect(ledger.running.isEmpty)
    }

    @Test func `coming to the front tells everything again`() {
        var ledger = ActivityLedger()
        _ = ledger.startToken(token, of: "CoachAttributes")
        ledger.found(a)
        _ = ledger.token(token, of: "A")
        #expect(ledger.refresh([a: .active, b: .ended]) == [.gone(b, .ended)])
        #expect(ledger.running == [a])
        #expect(ledger.startToken(token, of: "CoachAttributes") != nil)
        #expect(ledger.token(token, of: "A").count == 1)
        #expect(ledger.refresh([:]).isEmpty)
        #expect(ledger.running.isEmpty)
    }

    @Test func `a provisioning profile says whose service its tokens are for`() {
        func profile(_ value: String) -> Data {
            Data([0x30, 0x82, 0xFF]) + Data("<key>aps-environment</key>\n<string>\(value)</string>".utf8) + Data([0x00])
        }
        #expect(PushEnvironment.read(profile: profile("development")) == .sandbox)
        #expect(PushEnvironment.read(profile: profile("production")) == .production)
        #expect(PushEnvironment.read(profile: profile("other")) == nil)
        #expect(PushEnvironment.read(profile: Data("<key>aps-environment</key>".utf8)) == nil)
        #expect(PushEnvironment.read(profile: Data()) == nil)
    }

    @Test func `calls are what the registry's description says`() throws {
        var configuration = RegistrationConfiguration(
            registry: try #require(URL(string: "https://example.com/registry/")), userID: "sam/1",
            bundleID: "com.example.app", environment: .sandbox, wantsInputPushToken: true,
            folder: FileManager.default.temporaryDirectory)
        func call(_ report: Report) throws -> RegistryCall {
            try RegistryCall(report, configuration, deviceID: "ph one")
        }
        let device = "/v1/users/sam%2F1/devices/ph%20one"
        let gone = try call(.gone(RunningActivity(id: "A&", attributesType: "X", sessionID: "s=1"), .dismissed))
        #expect(gone.method == "DELETE" && gone.body == nil)
        #expect(gone.target == "\(device)/activities/A%26?reason=dismissed&sessionID=s%3D1")
        #expect(try configuration.url(of: gone.target).absoluteString == "https://example.com/registry" + gone.target)
        let running = try call(.running(["A"]))
        #expect(running.target == "\(device)/activities")
        #expect(running.body == Data(#"{"running":["A"]}"#.utf8))
        configuration.environment = nil
        configuration.timeZone = .gmt
        configuration.locale = Locale(identifier: "")
        let start = try call(.startToken(attributesType: "X", token: "0aff"))
        let body = try #require(try JSONSerialization.jsonObject(with: start.body ?? Data()) as? [String: Any])
        #expect(Set(body.keys) == ["attributesType", "token", "bundleID", "wantsInputPushToken", "timeZone"])
        #expect(body["timeZone"] as? String == "GMT")
    }
}
