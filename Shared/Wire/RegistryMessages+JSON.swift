// What RegistryMessages.swift declares, written and read field by field, in the order of the declarations.

extension RegistryLookup: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("handle", handle)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(handle: try json.value("handle"))
    }
}

extension RegistryLookup: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryLookup {
        guard type == Self.type else { throw JSONUnusual() }
        return try RegistryLookup(json: json)
    }
}

extension RegistryUserLookup: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(userID: try json.value("userID"))
    }
}

extension RegistryUserLookup: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryUserLookup {
        guard type == Self.type else { throw JSONUnusual() }
        return try RegistryUserLookup(json: json)
    }
}

extension RegistryStart: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("deviceID", deviceID)
            $0.field("attributesType", attributesType)
            $0.field("sessionID", sessionID)
            $0.field("generation", generation)
            $0.field("timestamp", timestamp)
            $0.field("isFromUser", isFromUser)
            $0.field("grant", grant)
            $0.field("mayRetry", mayRetry)
            $0.field("token", token)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.value("userID"), deviceID: try json.value("deviceID"),
            attributesType: try json.value("attributesType"), sessionID: try json.value("sessionID"),
            generation: try json.value("generation"), timestamp: try json.optional("timestamp"),
            isFromUser: try json.optional("isFromUser"), grant: try json.optional("grant"),
            mayRetry: try json.optional("mayRetry"), token: try json.optional("token"))
    }
}

extension RegistryStart: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryStart {
        guard type == Self.type else { throw JSONUnusual() }
        return try RegistryStart(json: json)
    }
}

extension RegistryStartAnswer: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("isGranted", isGranted)
            $0.field("reason", reason)
            $0.field("grant", grant)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            isGranted: try json.value("isGranted"), reason: try json.optional("reason"),
            grant: try json.optional("grant"))
    }
}

extension RegistryStartAnswer: JSONPayload {
    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryStartAnswer {
        guard type == RegistryStart.answerType else { throw JSONUnusual() }
        return try RegistryStartAnswer(json: json)
    }
}

extension RegistryCommand.TokenDead: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("token", token)
            $0.field("at", at)
            $0.field("reason", reason)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.value("userID"), token: try json.value("token"), at: try json.value("at"),
            reason: try json.value("reason"))
    }
}

extension RegistryCommand.EnvironmentLearned: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("token", token)
            $0.field("environment", environment)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.value("userID"), token: try json.value("token"), environment: try json.value("environment")
        )
    }
}

extension RegistryCommand.ActivityEnded: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("deviceID", deviceID)
            $0.field("attributesType", attributesType)
            $0.field("token", token)
            $0.field("wasUnowned", wasUnowned)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.value("userID"), deviceID: try json.value("deviceID"),
            attributesType: try json.value("attributesType"), token: try json.value("token"),
            wasUnowned: try json.optional("wasUnowned"))
    }
}

extension RegistryCommand: JSONWritable, JSONPayload {
    package func write(to json: inout JSONOutput) {
        switch self {
        case .startRefused(let value), .startAccepted(let value): value.write(to: &json)
        case .tokenDead(let value): value.write(to: &json)
        case .environmentLearned(let value): value.write(to: &json)
        case .activityEnded(let value): value.write(to: &json)
        }
    }

    package static func read(type: String, from json: JSONInput) throws(JSONUnusual) -> RegistryCommand {
        switch Kind(rawValue: type) {
        case .startRefused: .startRefused(try RegistryStart(json: json))
        case .startAccepted: .startAccepted(try RegistryStart(json: json))
        case .tokenDead: .tokenDead(try TokenDead(json: json))
        case .environmentLearned: .environmentLearned(try EnvironmentLearned(json: json))
        case .activityEnded: .activityEnded(try ActivityEnded(json: json))
        case nil: throw JSONUnusual()
        }
    }
}
