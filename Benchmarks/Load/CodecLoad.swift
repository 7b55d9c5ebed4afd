import Foundation
import Runtime
import Shared

/// The codec beside a plain JSONEncoder, in turns, so that both meet the same machine.
enum CodecLoad {
    struct Figures: Encodable {
        /// Seconds for one state.
        let encode, check, plainEncoder, plainRoundTrip: Double
    }

    static func run(_ options: [String: String]) async throws -> any Encodable {
        let rounds = try options.number("rounds", default: 20)
        let kind = try IslandKind.named(CoachAttributes.attributesType)
        let state = CoachAttributes.example
        let json = try ContentStateCodec.encode(state)
        var best = [Double](repeating: .infinity, count: 4)
        for _ in 0..<rounds {
            best[0] = min(best[0], try time { _ = try ContentStateCodec.encode(state) })
            best[1] = min(best[1], try time { _ = try ContentStateCodec.check(json, kind: kind) })
            best[2] = min(best[2], try time { _ = try JSONEncoder().encode(state) })
            best[3] = min(
                best[3],
                try time {
                    let data = try JSONEncoder().encode(state)
                    _ = try JSONDecoder().decode(CoachAttributes.ContentState.self, from: data)
                })
        }
        return Figures(encode: best[0], check: best[1], plainEncoder: best[2], plainRoundTrip: best[3])
    }

    /// Seconds for one of a thousand.
    static func time(_ body: () throws -> Void) rethrows -> Double {
        let start = monotonicSeconds()
        for _ in 0..<1000 { try body() }
        return (monotonicSeconds() - start) / 1000
    }
}
