/// Why a message is not known to be in the broker's hands.
package enum PublishError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no connection, or it was lost before the confirm: the message may or may not have arrived.
    case notConnected
    /// The broker takes nothing for now (memory or disk alarm).
    case blocked
    /// No queue is bound for the exchange and routing key.
    case unroutable
    /// The broker answered `basic.nack`: a queue is full.
    case refused
    /// No confirm in time: the message may or may not have arrived.
    case timedOut
    /// The publisher was closed.
    case closed
    /// More messages wait than the limit allows.
    case tooMany
    /// The message can never be sent; says why.
    case invalid(String)

    /// Whether publishing the same message again later can succeed.
    package var isRetryable: Bool {
        switch self {
        case .notConnected, .blocked, .unroutable, .refused, .timedOut, .tooMany: true
        case .closed, .invalid: false
        }
    }

    package var description: String {
        switch self {
        case .notConnected: "no connection to the broker"
        case .blocked: "the broker takes no messages (alarm)"
        case .unroutable: "no queue is bound for the message"
        case .refused: "the broker refused the message (queue full)"
        case .timedOut: "the broker did not answer in time"
        case .closed: "closed"
        case .tooMany: "too many messages wait for the broker"
        case .invalid(let why): "the message cannot be sent: \(why)"
        }
    }
}
