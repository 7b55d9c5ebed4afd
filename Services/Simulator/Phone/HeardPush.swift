/// A push that has reached a phone, or would have, and what became of it there.
struct HeardPush: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        /// The state as the Swift type has read it; `nil` if the card went with it.
        case applied(event: String, contentState: [UInt8]?)
        case dropped(reason: String)
        /// The phone is offline: APNs keeps it.
        case kept
    }

    let apnsID: String
    let outcome: Outcome

    var hop: Hop {
        switch outcome {
        case .applied(let event, let state):
            Hop(.decoded, .good, "The phone has decoded the \(event) and shows it", message: state)
        case .dropped(let reason): Hop(.decoded, .bad, "Dropped: \(reason)")
        case .kept: Hop(.decoded, .idle, "The phone is offline: APNs keeps this push until it is back")
        }
    }
}
