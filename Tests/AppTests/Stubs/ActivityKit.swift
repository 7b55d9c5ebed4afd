// What the app uses of Apple's ActivityKit, with the declarations of its public interface and nothing behind them: the tests
// type-check the app against it. `Activity` is not Sendable here, as Apple does not promise it.
public import Foundation

@available(iOS 16.1, *)
public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable, Encodable, Hashable
}

@available(iOS 16.1, *)
public class Activity<Attributes>: Identifiable where Attributes: ActivityAttributes {
    public typealias ContentState = Attributes.ContentState
    public typealias ID = String

    public final let id: String
    public final let attributes: Attributes

    init(id: String, attributes: Attributes) {
        self.id = id
        self.attributes = attributes
    }

    @available(iOS 16.2, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<Activity<Attributes>.ContentState>, pushType: PushType? = nil
    ) throws -> Activity<Attributes> { throw NotAPhone() }

    public static var activities: [Activity<Attributes>] { [] }
    public static var activityUpdates: Activity<Attributes>.ActivityUpdates { ActivityUpdates() }
    public var activityState: ActivityState { .active }
    public var activityStateUpdates: Activity<Attributes>.ActivityStateUpdates { ActivityStateUpdates() }
    public var pushToken: Data? { nil }
    public var pushTokenUpdates: Activity<Attributes>.PushTokenUpdates { PushTokenUpdates() }
    @available(iOS 17.2, *)
    public static var pushToStartTokenUpdates: Activity<Attributes>.PushTokenUpdates { PushTokenUpdates() }
    @available(iOS 17.2, *)
    public static var pushToStartToken: Data? { nil }

    @available(iOS 16.2, *)
    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {}
}

@available(iOS 16.1, *)
extension Activity {
    public struct ActivityUpdates: AsyncSequence {
        public typealias Element = Activity<Attributes>
        public func makeAsyncIterator() -> Iterator { Iterator() }
        public struct Iterator: AsyncIteratorProtocol {
            public func next() async -> Activity<Attributes>? { nil }
        }
    }

    public struct ActivityStateUpdates: AsyncSequence {
        public typealias Element = ActivityState
        public func makeAsyncIterator() -> Iterator { Iterator() }
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            public func next() async -> ActivityState? { nil }
        }
    }

    public struct PushTokenUpdates: AsyncSequence {
        public typealias Element = Data
        public func makeAsyncIterator() -> Iterator { Iterator() }
        public struct Iterator: AsyncIteratorProtocol {
            public func next() async -> Data? { nil }
        }
    }
}

@available(iOS 16.1, *)
public enum ActivityState: Sendable, Codable, Hashable {
    @available(iOS 26.0, *)
    case pending
    case active
    case ended
    case dismissed
    @available(iOS 16.2, *)
    case stale
}

@available(iOS 16.2, *)
public struct ActivityContent<State> where State: Decodable, State: Encodable, State: Hashable {
    public let state: State
    public let staleDate: Date?
    public let relevanceScore: Double

    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}

@available(iOS 16.1, *)
public struct ActivityUIDismissalPolicy: Equatable, Sendable {
    public static let `default` = ActivityUIDismissalPolicy()
    public static let immediate = ActivityUIDismissalPolicy()
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { .default }
}

@available(iOS 16.1, *)
public struct PushType: Equatable, Sendable {
    public static let token = PushType()
}

struct NotAPhone: Error {}
