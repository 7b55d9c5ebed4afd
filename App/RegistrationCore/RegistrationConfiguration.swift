public import Foundation
public import Shared

/// Whom the app speaks for, and how it reaches the registry.
public struct RegistrationConfiguration: Sendable {
    /// Where `token-registry` is reached, with a path in front of `/v1` if there is one.
    public var registry: URL
    /// The signed-in user, as the `sub` of your sign-in's JWT says.
    public var userID: String
    /// The app's bundle id, not the widget extension's.
    public var bundleID: String?
    /// Where the app's tokens are good, as ``PushEnvironment`` finds it.
    ///
    /// `nil` lets the registry find out by trying.
    public var environment: APNSEnvironment?
    /// Whether starts should ask for an update token in so many words.
    ///
    /// iOS 18 and later can be asked; iOS 17 gives one anyway.
    public var wantsInputPushToken: Bool
    /// Where the user's day begins and ends; the phone's own, wherever it is taken.
    public var timeZone = TimeZone.autoupdatingCurrent
    /// The language and region that the user reads in; the phone's own.
    public var locale = Locale.autoupdatingCurrent
    /// This installation of the app; `nil` makes one up and remembers it.
    public var deviceID: String?
    /// Where what is not told yet is kept: a folder of its own, which is not backed up.
    public var folder: URL
    public var retry = RetrySchedule()

    public init(
        registry: URL, userID: String, bundleID: String?, environment: APNSEnvironment?, wantsInputPushToken: Bool,
        folder: URL, deviceID: String? = nil
    ) {
        self.registry = registry
        self.userID = userID
        self.bundleID = bundleID
        self.environment = environment
        self.wantsInputPushToken = wantsInputPushToken
        self.folder = folder
        self.deviceID = deviceID
    }

    func url(of target: String) throws -> URL {
        var base = registry.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base + target) else { throw URLError(.badURL) }
        return url
    }
}

/// How long to wait before the next try: it doubles from `base` to `cap`, and is spread so that phones do not call in step.
public struct RetrySchedule: Sendable, Equatable {
    public var base: TimeInterval
    public var cap: TimeInterval
    /// The most that a `Retry-After` is believed.
    public var longest: TimeInterval

    public init(base: TimeInterval = 1, cap: TimeInterval = 300, longest: TimeInterval = 900) {
        self.base = base
        self.cap = cap
        self.longest = longest
    }

    /// - Parameters:
    ///   - failures: How often it has failed so far, 1 or more.
    ///   - retryAfter: What the registry asked for, in seconds.
    ///   - random: In 0..<1.
    func delay(after failures: Int, retryAfter: TimeInterval?, random: Double = .random(in: 0..<1)) -> TimeInterval {
        let doubled = min(base * Double(1 << min(max(failures - 1, 0), 20)), cap)
        return max(doubled * (0.5 + random / 2), min(retryAfter ?? 0, longest))
    }
}
