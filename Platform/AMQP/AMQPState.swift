/// What a connection can do at the moment.
package enum AMQPState: Sendable, Equatable, CustomStringConvertible {
    /// Not connected; says what happened last. Tries go on by themselves.
    case connecting(String)
    /// Connected and logged in, but required exchanges or queues are missing; names them. Tries go on.
    case misconfigured(String)
    case ready
    /// Connected, but the broker takes no messages; its reason.
    case blocked(String)
    case closed

    package var description: String {
        switch self {
        case .connecting(let reason): "not connected: \(reason)"
        case .misconfigured(let what): what
        case .ready: "ready"
        case .blocked(let reason): "blocked by the broker: \(reason)"
        case .closed: "closed"
        }
    }
}
