import Foundation
import Shared

/// A text's way as the page shows it; the messages of its hops are asked for one by one.
struct TrailView: Encodable {
    struct Row: Encodable {
        let number: Int
        let at: Timestamp
        let step: Hop.Step
        let tone: Hop.Tone
        let words: String
        let seconds: Double?
        let hasMessage: Bool
    }

    let id: String
    let title: String
    let isText: Bool
    let beganAt: Timestamp
    /// Whether a reply was accepted.
    let isAnswered: Bool
    let hops: [Row]

    init(_ trail: Trail) {
        id = trail.id
        title = trail.title
        isText = trail.isText
        beganAt = Timestamp(trail.beganAt)
        isAnswered = trail.has(.replied, .good)
        hops = trail.hops.map { hop in
            Row(
                number: hop.number, at: Timestamp(hop.at), step: hop.step, tone: hop.tone, words: hop.words,
                seconds: hop.seconds,
                hasMessage: hop.message != nil)
        }
    }
}
