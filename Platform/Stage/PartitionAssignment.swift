/// Who works which partition: the same answer on every replica that sees the same members.
package enum PartitionAssignment {
    /// The partitions of `member`, in ascending order; loads differ by one at most.
    ///
    /// Rendezvous hashing with a bound on the load: each partition goes to the member that it likes best among those
    /// that still have room. When a member comes or goes, few partitions of the others move.
    package static func partitions(of member: String, among members: [String], count: Int) -> [Int] {
        assign(count, to: members).enumerated().filter { $0.element == member }.map(\.offset)
    }

    /// The member for each partition.
    ///
    /// Without members, nobody works anything.
    static func assign(_ count: Int, to members: [String]) -> [String] {
        let members = Set(members).sorted()
        guard !members.isEmpty else { return [] }
        let share = count / members.count
        var extras = count % members.count
        var loads = Array(repeating: 0, count: members.count)
        return (0..<count).map { partition in
            let ranking = members.indices.sorted { score(members[$0], partition) > score(members[$1], partition) }
            let index = ranking.first { loads[$0] < share || (loads[$0] == share && extras > 0) } ?? ranking[0]
            if loads[index] == share { extras -= 1 }
            loads[index] += 1
            return members[index]
        }
    }

    /// FNV-1a with a final mix.
    ///
    /// Swift's own `Hasher` is seeded anew in every process.
    private static func score(_ member: String, _ partition: Int) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(member)/\(partition)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ hash >> 33
    }
}
