import Runtime
import Testing

@Suite struct `Small things` {
    @Test func `hexadecimal text goes there and back`() {
        #expect([0, 1, 0x7F, 0xFF].hexString == "00017fff")
        #expect([UInt8](hex: "00017fFF") == [0, 1, 0x7F, 0xFF])
        #expect([UInt8](hex: "") == [])
        for bad in ["0", "0g", "é0", "+1"] { #expect([UInt8](hex: bad) == nil) }
    }

    @Test func `waits between tries double up to the cap, and are never close to nothing`() {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(30))
        #expect(backoff.delay(after: 1, random: 0) == .milliseconds(500))
        #expect(backoff.delay(after: 1, random: 1) == .seconds(1))
        #expect(backoff.delay(after: 3, random: 1) == .seconds(4))
        #expect(backoff.delay(after: 6, random: 1) == .seconds(30))
        #expect(backoff.delay(after: 1_000_000, random: 1) == .seconds(30))
        #expect(backoff.delay(after: 0, random: 1) == .seconds(1))
    }

    @Test func `a lock lets one in at a time`() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { for _ in 0..<500 { count.withLock { $0 += 1 } } } }
        }
        #expect(count.withLock { $0 } == 10_000)
    }
}
