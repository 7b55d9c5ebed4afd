import Foundation
import Shared

/// One thing that happened to a text on its way, as it was seen.
struct Hop: Sendable {
    /// The longest message that is kept with a hop, in bytes.
    static let longestMessage = 8192

    enum Step: String, Sendable, Encodable {
        case written, webhook, confirmed, taken, worked, sent, replied, pushed, decoded
    }

    enum Tone: String, Sendable, Encodable {
        /// It went as it should.
        case good
        /// It was refused or dropped.
        case bad
        /// It did not have to go any further, or waits.
        case idle
    }

    /// Its place in the order in which the hops of a trail became known.
    fileprivate(set) var number = 0
    /// By the machine's clock, also where the services' is ahead of it.
    let at: Date
    let step: Step
    let tone: Tone
    /// What happened, in words.
    let words: String
    /// How long it took, if it took a time of its own.
    var seconds: Double?
    /// What was carried, usually JSON.
    var message: String?

    init(
        _ step: Step, _ tone: Tone, _ words: String, at: Date = Date(), seconds: Double? = nil, message: [UInt8]? = nil
    ) {
        self.at = at
        self.step = step
        self.tone = tone
        self.words = words
        self.seconds = seconds
        self.message = message.map { String(decoding: $0.prefix(Self.longestMessage), as: UTF8.self) }
    }
}

/// The way of one text, or of a push that no text caused.
struct Trail: Sendable {
    static let mostHops = 60

    let id: String
    /// A handle or a user.
    let subject: String
    let title: String
    let beganAt: Date
    /// Whether a reply or a push is due: not for what the agents pass over, such as a reaction.
    let isText: Bool
    private(set) var hops: [Hop] = []

    init(id: String, subject: String, title: String, isText: Bool) {
        self.id = id
        self.subject = subject
        self.title = title
        self.isText = isText
        beganAt = Date()
    }

    /// What was seen last need not have happened last: spans come in batches.
    mutating func add(_ hop: Hop) {
        guard hops.count < Self.mostHops else { return }
        var hop = hop
        hop.number = hops.count
        let place = hops.lastIndex { $0.at <= hop.at }.map { $0 + 1 } ?? 0
        hops.insert(hop, at: place)
    }

    func has(_ step: Hop.Step, _ tone: Hop.Tone) -> Bool { hops.contains { $0.step == step && $0.tone == tone } }
}
