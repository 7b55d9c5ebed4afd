import Runtime
import Testing

@Suite struct `Reading settings` {
    @Test func `a setting is read from its variable`() throws {
        var settings = Settings(["PARTITIONS": "32"])
        let value = settings.optional("PARTITIONS", "a number", default: "16") { Int($0) }
        try settings.finish()
        #expect(value == 32)
    }

    @Test func `an empty variable counts as not set`() throws {
        var settings = Settings(["PARTITIONS": ""])
        #expect(settings.optional("PARTITIONS", "a number", default: "16") { Int($0) } == 16)
        try settings.finish()
    }

    @Test func `a secret can be given as a file, without its last line end`() throws {
        var settings = Settings(["TOKEN_FILE": "/run/token"]) { path in path == "/run/token" ? "abc\n" : "" }
        #expect(settings.required("TOKEN", "a token", placeholder: "") { $0 } == "abc")
        try settings.finish()
    }

    @Test func `all problems are reported at once, without the values`() {
        var settings = Settings(["PORT": "80a0", "KEY_FILE": "/nowhere"]) { _ in throw SettingsProblem("no such file") }
        _ = settings.optional("PORT", "a port", default: "1") { UInt16($0) }
        _ = settings.required("KEY", "a key", placeholder: "") { $0 }
        _ = settings.required("URL", "an address", placeholder: "") { $0 }
        let error = #expect(throws: SettingsError.self) { try settings.finish() }
        let problems = error?.problems ?? []
        #expect(problems.contains { $0.hasPrefix("PORT") })
        #expect(problems.contains { $0 == "KEY_FILE: cannot read /nowhere" })
        #expect(problems.contains { $0.hasPrefix("URL is not set") })
        #expect(!problems.contains { $0.contains("80a0") })
    }

    @Test func `what was asked for is the help table`() {
        var settings = Settings([:])
        _ = settings.required("URL", "an address", placeholder: "") { $0 }
        _ = settings.optional("PORT", "a port", default: "80") { UInt16($0) }
        #expect(settings.entries.map(\.name) == ["URL", "PORT"])
        #expect(settings.entries.map(\.fallback) == [nil, "80"])
    }

    @Test(arguments: [
        ("90s", 90_000), ("15m", 900_000), ("8h", 28_800_000), ("250ms", 250), ("2d", 172_800_000),
    ])
    func `lengths of time are read with their unit`(text: String, milliseconds: Int64) {
        #expect(Duration(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: ["", "5", "m", "-5m", "5 m", "5w", "1.5h", "99999999999999999999s"])
    func `a length of time without a unit that we know is refused`(text: String) {
        #expect(Duration(text) == nil)
    }

    @Test func `addresses to listen at are read with their port`() {
        #expect(ListenAddress("127.0.0.1:80") == ListenAddress(host: "127.0.0.1", port: 80))
        #expect(ListenAddress("[::1]:0") == ListenAddress(host: "::1", port: 0))
        for bad in ["127.0.0.1", ":80", "127.0.0.1:65536", "127.0.0.1:x", ""] { #expect(ListenAddress(bad) == nil) }
    }
}
