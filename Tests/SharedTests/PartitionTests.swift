import Foundation
import Shared
import Testing

struct PartitionTests {
    /// `Fixtures/make-partitions.py` made them, apart from the code here.
    @Test func `a thousand keys fall where they always have`() throws {
        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(try Fixture.bytes("partitions.json"))) as? [[Any]])
        #expect(rows.count == 1000)
        let wrong = try rows.filter { row in
            let key = try #require(row[0] as? String)
            return try Partition.of(key, among: #require(row[1] as? Int)) != #require(row[2] as? Int)
        }
        #expect(wrong.count == 0)
    }

    @Test func `names have at least two digits`() {
        #expect([0, 9, 10, 15, 255].map(Partition.name) == ["00", "09", "10", "15", "255"])
        #expect(Stage.inbound.queue(3) == "inbound.v1.03")
    }

    @Test func `keys spread over all partitions`() {
        var counts = [Int](repeating: 0, count: 16)
        for number in 0..<16_000 { counts[Partition.of("+1202\(number)", among: 16)] += 1 }
        #expect(counts.allSatisfy { (800...1200).contains($0) })
    }
}
