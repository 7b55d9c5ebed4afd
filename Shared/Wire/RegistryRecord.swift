/// All that the registry knows about whom a handle belongs to: the answer to a look-up, and what the cache keeps.
public struct RegistryRecord: Sendable, Equatable, Codable {
    /// Grows with every change of the user; of two answers the one with the larger generation is the newer.
    ///
    /// 0: unknown.
    public let generation: Int64
    /// `nil` if nobody has registered the handle.
    public let userID: String?
    /// The handle whose partition keeps the user's state.
    ///
    /// An unknown handle is its own.
    public let canonicalHandle: String
    public let devices: [Device]
    /// The IANA name of the time zone that the user's phone is in; `nil` if no app has said.
    public let timeZone: String?
    /// The locale of the user's phone, such as "en_US".
    public let locale: String?

    /// An iPhone of the user's.
    public struct Device: Sendable, Equatable, Codable {
        public let deviceID: String
        public let startTokens: [StartToken]
        public let activities: [Activity]

        public init(deviceID: String, startTokens: [StartToken], activities: [Activity]) {
            self.deviceID = deviceID
            self.startTokens = startTokens
            self.activities = activities
        }
    }

    /// A push-to-start token.
    public struct StartToken: Sendable, Equatable, Codable {
        public let attributesType: String
        /// Lower-case hexadecimal, of any length.
        public let token: String
        /// `nil`: not said by the app and not learned yet.
        public let environment: APNSEnvironment?
        public let bundleID: String?
        /// Whether a start should ask for an update token (`input-push-token`, iOS 18).
        public let wantsInputPushToken: Bool
        public let registeredAt: Timestamp

        public init(
            attributesType: String, token: String, environment: APNSEnvironment?, bundleID: String?,
            wantsInputPushToken: Bool, registeredAt: Timestamp
        ) {
            self.attributesType = attributesType
            self.token = token
            self.environment = environment
            self.bundleID = bundleID
            self.wantsInputPushToken = wantsInputPushToken
            self.registeredAt = registeredAt
        }
    }

    /// A card on a device, from the moment that it was decided to start it.
    public struct Activity: Sendable, Equatable, Codable {
        public let attributesType: String
        /// The session it was started for; `nil` for a card of the app's own that no session has taken over yet.
        public let sessionID: String?
        /// Which card of the session: 0, and one more at each renewal.
        public let generation: Int
        public let state: State
        /// ActivityKit's id of it, known once the app has reported it.
        public let activityID: String?
        /// The update token, once there is one.
        public let token: String?
        public let environment: APNSEnvironment?
        public let bundleID: String?
        public let registeredAt: Timestamp
        public let startedAt: Timestamp
        /// True for a start of which nobody has heard yet that APNs took it: a new text of the user may have it granted
        /// anew.
        public let isStartUnknown: Bool?

        public init(
            attributesType: String, sessionID: String?, generation: Int, state: State, activityID: String?,
            token: String?, environment: APNSEnvironment?, bundleID: String?, registeredAt: Timestamp,
            startedAt: Timestamp, isStartUnknown: Bool? = nil
        ) {
            self.attributesType = attributesType
            self.sessionID = sessionID
            self.generation = generation
            self.state = state
            self.activityID = activityID
            self.token = token
            self.environment = environment
            self.bundleID = bundleID
            self.registeredAt = registeredAt
            self.startedAt = startedAt
            self.isStartUnknown = isStartUnknown
        }
    }

    /// Where a card stands.
    ///
    /// A state that this build does not know is kept by its name.
    public struct State: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The fence: a start may be on its way, and no second one goes out.
        public static let starting = State(rawValue: "starting")
        /// It has an update token.
        public static let live = State(rawValue: "live")
        /// The user swiped it away: nothing more for this session.
        public static let dismissed = State(rawValue: "dismissed")
        /// We ended it, or the app or the system did.
        public static let ended = State(rawValue: "ended")
    }

    public init(
        generation: Int64, userID: String?, canonicalHandle: String, devices: [Device], timeZone: String? = nil,
        locale: String? = nil
    ) {
        self.generation = generation
        self.userID = userID
        self.canonicalHandle = canonicalHandle
        self.devices = devices
        self.timeZone = timeZone
        self.locale = locale
    }

    /// What is known of a handle that nobody has registered.
    public static func unknown(_ handle: String) -> RegistryRecord {
        RegistryRecord(generation: 0, userID: nil, canonicalHandle: handle, devices: [])
    }
}

/// Which of Apple's two APNs a token belongs to.
public enum APNSEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case production
    case sandbox

    public var other: APNSEnvironment { self == .production ? .sandbox : .production }
}

extension APNSEnvironment: JSONCodable {}
extension RegistryRecord.State: JSONCodable {}

extension RegistryRecord.StartToken: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("attributesType", attributesType)
            $0.field("token", token)
            $0.field("environment", environment)
            $0.field("bundleID", bundleID)
            $0.field("wantsInputPushToken", wantsInputPushToken)
            $0.field("registeredAt", registeredAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            attributesType: try json.value("attributesType"), token: try json.value("token"),
            environment: try json.optional("environment"), bundleID: try json.optional("bundleID"),
            wantsInputPushToken: try json.value("wantsInputPushToken"), registeredAt: try json.value("registeredAt"))
    }
}

extension RegistryRecord.Activity: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("attributesType", attributesType)
            $0.field("sessionID", sessionID)
            $0.field("generation", generation)
            $0.field("state", state)
            $0.field("activityID", activityID)
            $0.field("token", token)
            $0.field("environment", environment)
            $0.field("bundleID", bundleID)
            $0.field("registeredAt", registeredAt)
            $0.field("startedAt", startedAt)
            $0.field("isStartUnknown", isStartUnknown)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            attributesType: try json.value("attributesType"), sessionID: try json.optional("sessionID"),
            generation: try json.value("generation"), state: try json.value("state"),
            activityID: try json.optional("activityID"), token: try json.optional("token"),
            environment: try json.optional("environment"), bundleID: try json.optional("bundleID"),
            registeredAt: try json.value("registeredAt"), startedAt: try json.value("startedAt"),
            isStartUnknown: try json.optional("isStartUnknown"))
    }
}

extension RegistryRecord.Device: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("deviceID", deviceID)
            $0.field("startTokens", startTokens)
            $0.field("activities", activities)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            deviceID: try json.value("deviceID"), startTokens: try json.value("startTokens"),
            activities: try json.value("activities"))
    }
}

extension RegistryRecord: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("generation", generation)
            $0.field("userID", userID)
            $0.field("canonicalHandle", canonicalHandle)
            $0.field("devices", devices)
            $0.field("timeZone", timeZone)
            $0.field("locale", locale)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            generation: try json.value("generation"), userID: try json.optional("userID"),
            canonicalHandle: try json.value("canonicalHandle"), devices: try json.value("devices"),
            timeZone: try json.optional("timeZone"), locale: try json.optional("locale"))
    }
}

extension RegistryRecord: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryRecord {
        guard type == RegistryLookup.answerType else { throw JSONUnusual() }
        return try RegistryRecord(json: json)
    }
}
