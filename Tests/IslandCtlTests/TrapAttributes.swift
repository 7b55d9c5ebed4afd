import Foundation
import Shared

/// A kind with every type in it that is a trap.
struct TrapAttributes: IslandAttributes {
    enum Mode: String, Codable, CaseIterable { case calm, wild }

    enum Phase: String, OpenCase {
        case early, late, unknown
        static let fallback = Phase.unknown
    }

    struct Stop: Codable, Hashable, Sendable {
        var name: String
        var minutes: Int8
    }

    struct ContentState: Codable, Hashable, Sendable {
        var count: Int
        var endEpoch: Int
        var when: Date
        var share: Double
        var isOn: Bool
        var mode: Mode
        var phase: Phase
        var stops: [Stop]
        var scores: [String: Int]
        var id: UUID
        var picture: Data?
        var page: URL?
        var later: Stop?
    }

    var userID: String
    var sessionID: String?

    init(userID: String, sessionID: String?) {
        self.userID = userID
        self.sessionID = sessionID
    }

    static let example = ContentState(
        count: 3, endEpoch: 1_790_000_000, when: Date(timeIntervalSinceReferenceDate: 800_000_000), share: 0.5,
        isOn: true, mode: .calm, phase: .late, stops: [Stop(name: "A", minutes: 4)], scores: ["x": 1],
        id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    static let startAlert = DesiredIsland.Alert(title: "T", body: "B")
    static let fieldNotes = ["stops.minutes": "whole minutes"]
}

let trap = IslandKind(TrapAttributes.self)
