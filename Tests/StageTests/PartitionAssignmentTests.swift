import Testing

@testable import Stage

@Suite struct `Partition assignment` {
    @Test(arguments: 1...12, [1, 5, 16, 32, 100])
    func `loads differ by one at most, and nothing is left out`(members: Int, partitions: Int) {
        let names = (0..<members).map { "replica-\($0)" }
        let owners = PartitionAssignment.assign(partitions, to: names)
        #expect(owners.count == partitions)
        let loads = names.map { name in owners.count { $0 == name } }
        #expect((loads.max() ?? 0) - (loads.min() ?? 0) <= 1)
    }

    @Test func `all replicas find the same, in whatever order they heard of each other`() {
        let names = ["c", "a", "b", "a"]
        #expect(PartitionAssignment.assign(16, to: names) == PartitionAssignment.assign(16, to: ["a", "b", "c"]))
        let parts = ["a", "b", "c"].flatMap { PartitionAssignment.partitions(of: $0, among: names, count: 16) }
        #expect(parts.sorted() == Array(0..<16))
    }

    @Test func `a newcomer leaves most of the others' partitions where they are`() {
        let before = PartitionAssignment.assign(64, to: ["a", "b", "c"])
        let after = PartitionAssignment.assign(64, to: ["a", "b", "c", "d"])
        let moved = zip(before, after).count { $0 != $1 }
        // 16 must move to the newcomer; the bound on the load may move a few more.
        #expect(moved <= 32)
    }

    @Test func `without members nobody works anything`() {
        #expect(PartitionAssignment.assign(16, to: []).isEmpty)
        #expect(PartitionAssignment.partitions(of: "a", among: ["b"], count: 16).isEmpty)
    }
}

@Suite struct `Who is there` {
    @Test func `a replica that is silent for six seconds is gone`() {
        var membership = Membership(own: "me")
        let news = [10.0, 12].map { membership.heard(from: "a", at: $0) }
        #expect(news == [true, false])
        let members = [18, 18.1].map { membership.members(at: $0) }
        #expect(members == [["a", "me"], ["me"]])
        let isNewAgain = membership.heard(from: "a", at: 19)
        #expect(isNewAgain)
    }

    @Test func `one that says goodbye is gone at once`() {
        var membership = Membership(own: "me")
        _ = membership.heard(from: "a", at: 10)
        membership.left("a")
        let members = membership.members(at: 10)
        #expect(members == ["me"])
    }
}
