import TestSupport
import Testing

@testable import AMQP

@Suite struct AcknowledgementLedgerTests {
    @Test func `a prefix is acknowledged at once, the rest singly`() {
        var ledger = AcknowledgementLedger()
        for tag in 1...10 { ledger.delivered(UInt64(tag)) }
        for tag in [3, 1, 2, 7] { ledger.settle(UInt64(tag), .acknowledge) }
        #expect(ledger.takeFrames() == [.acknowledge(3, multiple: true), .acknowledge(7, multiple: false)])
        for tag in [4, 5, 6] { ledger.settle(UInt64(tag), .acknowledge) }
        #expect(ledger.takeFrames() == [.acknowledge(6, multiple: true)])
        #expect(ledger.takeFrames() == [])
    }

    @Test func `what is settled behind something that is not can wait, and then takes one frame`() {
        var ledger = AcknowledgementLedger()
        for tag in 1...5 { ledger.delivered(UInt64(tag)) }
        for tag in [1, 3, 4] { ledger.settle(UInt64(tag), .acknowledge) }
        #expect(ledger.takeFrames(loose: false) == [.acknowledge(1, multiple: false)])
        #expect(ledger.hasLoose)
        ledger.settle(2, .acknowledge)
        #expect(ledger.takeFrames(loose: false) == [.acknowledge(4, multiple: true)])
        #expect(!ledger.hasLoose)
        ledger.settle(5, .acknowledge)
        #expect(ledger.takeFrames() == [.acknowledge(5, multiple: false)])
    }

    @Test func `a rejection goes out before an acknowledgement that would cover it`() {
        var ledger = AcknowledgementLedger()
        for tag in 1...3 { ledger.delivered(UInt64(tag)) }
        ledger.settle(2, .reject)
        ledger.settle(1, .acknowledge)
        ledger.settle(3, .acknowledge)
        #expect(ledger.takeFrames() == [.reject(2), .acknowledge(3, multiple: true)])
    }

    @Test func `what is settled twice or was never delivered is ignored`() {
        var ledger = AcknowledgementLedger()
        ledger.delivered(1)
        ledger.settle(1, .acknowledge)
        ledger.settle(1, .reject)
        ledger.settle(2, .acknowledge)
        #expect(ledger.takeFrames() == [.acknowledge(1, multiple: false)])
        ledger.settle(1, .acknowledge)
        #expect(ledger.takeFrames() == [])
    }

    @Test func `twenty thousand random verdicts reach a broker that checks every tag`() {
        var random = SeededRandom(seed: 7)
        var ledger = AcknowledgementLedger()
        var outstanding: Set<UInt64> = []
        var wanted: [UInt64: AcknowledgementLedger.Verdict] = [:]
        var told: [UInt64: AcknowledgementLedger.Verdict] = [:]
        var last: UInt64 = 0
        func tell(loose: Bool) {
            for frame in ledger.takeFrames(loose: loose) {
                switch frame {
                case .reject(let tag):
                    #expect(outstanding.remove(tag) != nil)
                    told[tag] = .reject
                case .acknowledge(let tag, let multiple):
                    #expect(outstanding.contains(tag), "unknown delivery tag")
                    for covered in multiple ? outstanding.filter({ $0 <= tag }) : [tag] {
                        outstanding.remove(covered)
                        told[covered] = .acknowledge
                    }
                }
            }
        }
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                last += 1
                ledger.delivered(last)
                outstanding.insert(last)
            case 4..<9:
                let tag = UInt64.random(in: (last > 40 ? last - 40 : 0)...last + 1, using: &random)
                let verdict: AcknowledgementLedger.Verdict = .random(in: &random)
                if tag >= 1, tag <= last, wanted[tag] == nil { wanted[tag] = verdict }
                ledger.settle(tag, verdict)
            default: tell(loose: Bool.random(using: &random))
            }
        }
        tell(loose: true)
        #expect(told == wanted)
        #expect(outstanding.count == Int(last) - wanted.count)
    }
}

extension AcknowledgementLedger.Verdict {
    fileprivate static func random(in random: inout SeededRandom) -> Self {
        Int.random(in: 0..<6, using: &random) == 0 ? .reject : .acknowledge
    }
}
