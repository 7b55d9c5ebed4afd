import Foundation
import Testing

/// 1,000 lives of a user, or as many as `INTERLEAVINGS` says; `INTERLEAVING_SEED` repeats a single one.
@Suite struct `Random interleavings` {
    @Test func `each phone shows exactly the newest state of an open session on exactly one card`() async throws {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["INTERLEAVING_SEED"].flatMap(UInt64.init) {
            return try await expectNothingWrong(seed)
        }
        let count = environment["INTERLEAVINGS"].flatMap(UInt64.init) ?? 1000
        let first = environment["INTERLEAVINGS_FROM"].flatMap(UInt64.init) ?? 1
        for seed in first..<first + count { try await expectNothingWrong(seed) }
    }

    private func expectNothingWrong(_ seed: UInt64) async throws {
        let problems = try await Interleaving(seed: seed).run()
        guard !problems.isEmpty else { return }
        // The same again, writing down what happens.
        let again = Interleaving(seed: seed)
        again.world.keepsTrace = true
        #expect(try await again.run() == problems, "the interleaving is not the same with the same seed")
        let trace = again.world.trace.suffix(150).joined(separator: "\n")
        try #require(problems.isEmpty, "INTERLEAVING_SEED=\(seed): \(problems.joined(separator: "; "))\n\(trace)")
    }
}
