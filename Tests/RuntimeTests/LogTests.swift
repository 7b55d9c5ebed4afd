import Foundation
import Runtime
import Testing

@Suite struct `Log lines` {
    private func lines(_ level: Log.Level, _ body: (Log) -> Void) -> [String] {
        let lines = Locked<[String]>([])
        body(Log(service: "test", level: level) { line in lines.withLock { $0.append(line) } })
        return lines.withLock { $0 }
    }

    @Test func `a line is one JSON object, whatever its fields hold`() throws {
        let nasty = "a\"b\\c\nd\u{1}\u{2028}ü{}"
        let written = lines(.info) { $0.info("it happened", ["field": nasty, "other": "x"]) }
        #expect(written.count == 1)
        #expect(written[0].filter { $0 == "\n" }.count == 1)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(written[0].utf8)) as? [String: String])
        #expect(object["message"] == "it happened")
        #expect(object["level"] == "info")
        #expect(object["service"] == "test")
        #expect(object["field"] == nasty)
    }

    @Test func `what is below the level is not written`() {
        #expect(lines(.warning) { $0.info("quiet") }.isEmpty)
        #expect(lines(.warning) { $0.error("loud") }.count == 1)
    }

    @Test func `a secret prints nothing of itself`() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2"))
        #expect(secret.reveal() == "hunter2")
    }
}
