import Foundation
import Testing

/// 1,000 lives of a user, or as many as `INTERLEAVINGS` says; `INTERLEAVING_SEED` repeats a single one.
@Suite struct `Random interleavings` {
    @Test func `each phone shows exactly the newest state of an open session on exactly one card`() async throws {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["INTERLEAVING_SEED"].flatMap(UInt64.init) {
            _ = try await live(seed)
            return
        }
        let count = environment["INTERLEAVINGS"].flatMap(UInt64.init) ?? 1000
        let first = environment["INTERLEAVINGS_FROM"].flatMap(UInt64.init) ?? 1
        var happened: [String: Int] = [:]
        for seed in first..<first + count { happened.merge(try await live(seed), uniquingKeysWith: +) }
        guard count >= 1000 else { return }
        // What is worth nothing if it does not happen.
        for event in [
            "pusher killed between leave and start",
            "pusher killed between APNs' answer to a start and the word of it",
            "pusher killed before leave was asked for",
            "pusher killed before another push", "pusher killed before another command",
            "registry killed before it told the cache", "a start was granted anew", "an app was installed anew",
            "a card of another installation was forgotten",
        ] { #expect(happened[event] ?? 0 >= 10, "\(event): \(happened)") }
    }

    /// What was found in them has tests of its own by now, since a seed gives another life when anything is changed.
    @Test(arguments: [2182, 2765, 4899, 7789, 14801, 25255, 25995, 26384, 27098] as [UInt64])
    func `lives in which something was wrong once`(seed: UInt64) async throws { _ = try await live(seed) }

    /// What happened in the life of this seed, with nothing wrong in it.
    private func live(_ seed: UInt64) async throws -> [String: Int] {
        let life = Interleaving(seed: seed)
        let problems = try await life.run()
        guard !problems.isEmpty else {
            let registry = life.world.registry
            return life.world.happened.merging([
                "registry killed before it told the cache": registry.kills,
                "a card of another installation was forgotten": registry.forgotten,
            ]) { $1 }
        }
        // The same again, writing down what happens.
        let again = Interleaving(seed: seed)
        again.world.keepsTrace = true
        #expect(try await again.run() == problems, "the interleaving is not the same with the same seed")
        let trace = again.world.trace.suffix(150).joined(separator: "\n")
        try #require(problems.isEmpty, "INTERLEAVING_SEED=\(seed): \(problems.joined(separator: "; "))\n\(trace)")
        return [:]
    }
}
