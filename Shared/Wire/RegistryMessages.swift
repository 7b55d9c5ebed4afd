/// Asks the registry whom a handle belongs to; answered with a `RegistryRecord`.
public struct RegistryLookup: Sendable, Equatable, Codable {
    public static let type = "isthmus.registry.lookup.v1"
    public static let answerType = "isthmus.registry.record.v1"

    public let handle: String

    public init(handle: String) { self.handle = handle }
}

/// Asks the registry about a user of the customer's by their id; answered with a `RegistryRecord`, one without a
/// `userID` if there is no such user.
public struct RegistryUserLookup: Sendable, Equatable, Codable {
    public static let type = "isthmus.registry.user-lookup.v1"

    public let userID: String

    public init(userID: String) { self.userID = userID }
}

/// Asks the registry for leave to start one card; answered with a `RegistryStartAnswer`.
///
/// The registry grants it once for each device, kind, session and generation, and has stored that before it answers.
public struct RegistryStart: Sendable, Equatable, Codable {
    public static let type = "isthmus.registry.start.v1"
    public static let answerType = "isthmus.registry.start-answer.v1"

    public let userID: String
    public let deviceID: String
    public let attributesType: String
    public let sessionID: String
    public let generation: Int
    /// In a question: `aps.timestamp` of the state that is to be shown.
    public let timestamp: Int64?
    /// In a question: true if a text of the user's made that state, or whatever else came from outside.
    public let isFromUser: Bool?
    /// In a command: the grant that the start had, so that a late copy does not touch a later one.
    public let grant: String?
    /// In a `startRefused`: true if the start may be sent again as it is; absent if that would lead to the same refusal.
    public let mayRetry: Bool?
    /// In a `startRefused`: the push-to-start token that was tried.
    public let token: String?

    public init(
        userID: String, deviceID: String, attributesType: String, sessionID: String, generation: Int,
        timestamp: Int64? = nil, isFromUser: Bool? = nil, grant: String? = nil, mayRetry: Bool? = nil,
        token: String? = nil
    ) {
        self.userID = userID
        self.deviceID = deviceID
        self.attributesType = attributesType
        self.sessionID = sessionID
        self.generation = generation
        self.timestamp = timestamp
        self.isFromUser = isFromUser
        self.grant = grant
        self.mayRetry = mayRetry
        self.token = token
    }
}

/// Whether a start may be sent.
public struct RegistryStartAnswer: Sendable, Equatable, Codable {
    public let isGranted: Bool
    /// Why not, in words.
    public let reason: String?
    /// Names the grant; the same when the same question comes again.
    public let grant: String?

    public init(isGranted: Bool, reason: String?, grant: String? = nil) {
        self.isGranted = isGranted
        self.reason = reason
        self.grant = grant
    }
}

/// What the pusher learned from APNs and the registry has to remember.
///
/// Each may come twice and changes nothing then.
public enum RegistryCommand: Sendable, Equatable {
    /// APNs gave a definite answer that no card was started: the fence is lifted.
    case startRefused(RegistryStart)
    /// APNs took the start: it is not granted anew.
    case startAccepted(RegistryStart)
    /// A token is dead since `at` (APNs' own time for a 410): it goes, unless it was registered again after that.
    case tokenDead(TokenDead)
    /// The token works in this environment.
    case environmentLearned(EnvironmentLearned)
    /// The end push of a session's card was accepted.
    case activityEnded(ActivityEnded)

    public struct TokenDead: Sendable, Equatable, Codable {
        public let userID: String
        public let token: String
        public let at: Timestamp
        /// APNs' reason.
        public let reason: String

        public init(userID: String, token: String, at: Timestamp, reason: String) {
            self.userID = userID
            self.token = token
            self.at = at
            self.reason = reason
        }
    }

    public struct EnvironmentLearned: Sendable, Equatable, Codable {
        public let userID: String
        public let token: String
        public let environment: APNSEnvironment

        public init(userID: String, token: String, environment: APNSEnvironment) {
            self.userID = userID
            self.token = token
            self.environment = environment
        }
    }

    public struct ActivityEnded: Sendable, Equatable, Codable {
        public let userID: String
        public let deviceID: String
        public let attributesType: String
        public let token: String
        /// True if no session had taken the card over when it was ended: one that has since then got a dead card.
        public let wasUnowned: Bool?

        public init(
            userID: String, deviceID: String, attributesType: String, token: String, wasUnowned: Bool? = nil
        ) {
            self.userID = userID
            self.deviceID = deviceID
            self.attributesType = attributesType
            self.token = token
            self.wasUnowned = wasUnowned
        }
    }

    /// The command's type on the wire.
    public var type: String { kind.rawValue }

    enum Kind: String {
        case startRefused = "isthmus.registry.start-refused.v1"
        case startAccepted = "isthmus.registry.start-accepted.v1"
        case tokenDead = "isthmus.registry.token-dead.v1"
        case environmentLearned = "isthmus.registry.environment-learned.v1"
        case activityEnded = "isthmus.registry.activity-ended.v1"
    }

    private var kind: Kind {
        switch self {
        case .startRefused: .startRefused
        case .startAccepted: .startAccepted
        case .tokenDead: .tokenDead
        case .environmentLearned: .environmentLearned
        case .activityEnded: .activityEnded
        }
    }
}

extension RegistryCommand: Encodable, WirePayload {
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .startRefused(let value), .startAccepted(let value): try value.encode(to: encoder)
        case .tokenDead(let value): try value.encode(to: encoder)
        case .environmentLearned(let value): try value.encode(to: encoder)
        case .activityEnded(let value): try value.encode(to: encoder)
        }
    }

    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryCommand {
        switch Kind(rawValue: type) {
        case .startRefused: .startRefused(try RegistryStart(from: decoder))
        case .startAccepted: .startAccepted(try RegistryStart(from: decoder))
        case .tokenDead: .tokenDead(try TokenDead(from: decoder))
        case .environmentLearned: .environmentLearned(try EnvironmentLearned(from: decoder))
        case .activityEnded: .activityEnded(try ActivityEnded(from: decoder))
        case nil: throw UnsupportedWireType(type: type)
        }
    }
}

extension RegistryLookup: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryLookup {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try RegistryLookup(from: decoder)
    }
}

extension RegistryUserLookup: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryUserLookup {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try RegistryUserLookup(from: decoder)
    }
}

extension RegistryStart: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryStart {
        guard type == Self.type else { throw UnsupportedWireType(type: type) }
        return try RegistryStart(from: decoder)
    }
}

extension RegistryStartAnswer: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryStartAnswer {
        guard type == RegistryStart.answerType else { throw UnsupportedWireType(type: type) }
        return try RegistryStartAnswer(from: decoder)
    }
}

extension RegistryRecord: WirePayload {
    public static func decode(type: String, from decoder: any Decoder) throws -> RegistryRecord {
        guard type == RegistryLookup.answerType else { throw UnsupportedWireType(type: type) }
        return try RegistryRecord(from: decoder)
    }
}
