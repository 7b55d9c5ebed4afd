public import Foundation

/// Brings calls to the registry; what it was given, it may still bring when the app's process has ended.
///
/// Each call is tried once. How it went comes by `events`, also for calls that an earlier process gave it.
public protocol RegistryTransport: Sendable {
    /// How calls went, for one reader.
    var events: AsyncStream<TransportEvent> { get }

    /// Starts to bring the call, `delay` seconds from now.
    func begin(_ call: TransportCall, after delay: TimeInterval) throws

    /// Gives up calls that have not begun.
    func cancel(_ ids: [String]) async

    /// The calls that are still on their way.
    func underWay() async -> Set<String>

    /// Gives up all calls that are on their way.
    func close()
}

/// A call, and the name under which its answer comes back.
public struct TransportCall: Sendable {
    public let id: String
    public let method: String
    public let url: URL
    /// The user's JWT.
    public let jwt: String
    /// JSON.
    public let body: Data?
    /// A call that has failed is better left to the system, which waits for the network when the app is asleep.
    public let hasFailed: Bool
}

/// What a transport tells.
public enum TransportEvent: Sendable, Equatable {
    case answered(id: String, TransportAnswer)
    /// There was no answer, and why.
    case failed(id: String, reason: String)
    /// All that a background session had to tell has been told.
    case caughtUp
}

/// What the registry answered.
public struct TransportAnswer: Sendable, Equatable {
    public let status: Int
    /// In seconds.
    public let retryAfter: TimeInterval?
    public let body: Data
}
