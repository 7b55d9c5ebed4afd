import Shared

/// One user, whole: what a transaction loads, changes and stores.
///
/// All that may happen to a user is a `mutating` function here, without a database and without a clock; what must
/// follow from it (a new generation, events, the cache) comes from comparing the user before and after.
struct User: Sendable, Equatable {
    let id: String
    /// That of the last stored change; 0 if there was none yet.
    var generation: Int64 = 0
    /// In the order of their registration.
    var handles: [OwnedHandle] = []
    /// Those that the user has no more, the newest last.
    ///
    /// The agent may have kept something of theirs under one, which goes when the user is erased.
    var formerHandles: [Handle] = []
    var startTokens: [StartToken] = []
    /// In the order of their beginning.
    var cards: [Card] = []
    /// What the agent should show again although no token has changed; said once and not stored.
    var reachableAgain: [IslandReachable] = []

    init(id: String) { self.id = id }

    struct OwnedHandle: Sendable, Equatable {
        let handle: Handle
        /// Whether this one's partition keeps the user's state.
        var isCanonical: Bool
    }

    /// A push-to-start token; a device has one for each kind at most.
    struct StartToken: Sendable, Equatable {
        let deviceID: String
        let attributesType: String
        var token: String
        var environment: APNSEnvironment?
        var bundleID: String?
        var wantsInputPushToken: Bool
        var registeredAt: Timestamp
        var timeZone: String?
        var locale: String?
    }

    var canonicalHandle: Handle? { handles.first(where: \.isCanonical)?.handle }
}

extension User {
    /// What the other services are told.
    var record: RegistryRecord {
        let deviceIDs = Set(startTokens.map(\.deviceID)).union(cards.map(\.deviceID)).sorted()
        return RegistryRecord(
            generation: generation, userID: id, canonicalHandle: canonicalHandle?.text ?? "",
            devices: deviceIDs.map { deviceID in
                RegistryRecord.Device(
                    deviceID: deviceID,
                    startTokens: startTokens.filter { $0.deviceID == deviceID }.map(\.record),
                    activities: cards.filter { $0.deviceID == deviceID }.map(\.record))
            }, timeZone: latest(\.timeZone), locale: latest(\.locale))
    }
}

extension User {
    /// What the device that registered last has said: who travels has it with them.
    private func latest(_ value: (StartToken) -> String?) -> String? {
        startTokens.filter { value($0) != nil }.max { $0.registeredAt < $1.registeredAt }.flatMap(value)
    }
}

extension User.StartToken {
    var record: RegistryRecord.StartToken {
        RegistryRecord.StartToken(
            attributesType: attributesType, token: token, environment: environment, bundleID: bundleID,
            wantsInputPushToken: wantsInputPushToken, registeredAt: registeredAt)
    }
}
