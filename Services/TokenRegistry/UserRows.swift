import Database
import Shared

/// Reads and writes users inside a transaction.
struct UserRows {
    let transaction: Transaction
    let vault: Vault

    /// The user with all that is theirs; `generation` is 0 if there is no such user.
    func load(_ id: String) throws -> User {
        var user = User(id: id)
        let rows = try transaction.run("SELECT generation FROM registry_users WHERE user_id = $1", [.text(id)])
        guard let row = rows.first else { return user }
        user.generation = try row.integer("generation")
        (user.handles, user.formerHandles) = try handles(of: id)
        user.startTokens = try startTokens(of: id)
        user.cards = try cards(of: id)
        return user
    }

    func owner(of handle: Handle) throws -> String? {
        try transaction.run(
            "SELECT user_id FROM registry_handles WHERE handle_hash = $1", [.blob(vault.hash(.handle, handle.text))]
        ).first?.text("user_id")
    }

    /// The users for whom the token is registered, whatever kind of token it is.
    func owners(ofToken token: String) throws -> Set<String> {
        let rows = try transaction.run(
            """
            SELECT user_id FROM registry_start_tokens WHERE token_hash = $1
            UNION SELECT user_id FROM registry_activities WHERE token_hash = $1
            """, [.blob(vault.hash(.token, token))])
        return Set(try rows.map { try $0.text("user_id") })
    }

    /// Larger than every generation given before.
    func nextGeneration() throws -> Int64 {
        let next =
            transaction.dialect == .sqlite
            ? "UPDATE registry_generation SET value = value + 1 RETURNING value"
            : "SELECT nextval('registry_generation') AS value"
        guard let row = try transaction.run(next).first else {
            throw DatabaseError(.run, code: "generation", "the counter of generations is gone")
        }
        return try row.integer("value")
    }

    /// Stores what differs.
    ///
    /// What is given up goes before what is new, since a token belongs to one row.
    func store(_ after: User, over before: User, at now: Timestamp) throws {
        try transaction.run(
            """
            INSERT INTO registry_users (user_id, generation, created_at) VALUES ($1, $2, $3)
            ON CONFLICT (user_id) DO UPDATE SET generation = excluded.generation
            """, [.text(after.id), .integer(after.generation), .integer(now.millisecondsSince1970)])
        for owned in before.handles where !after.handles.contains(where: { $0.handle == owned.handle }) {
            try transaction.run(
                "DELETE FROM registry_handles WHERE handle_hash = $1", [.blob(vault.hash(.handle, owned.handle.text))])
        }
        if after.handles != before.handles {
            for (position, owned) in after.handles.enumerated() { try store(owned, at: position, of: after.id) }
        }
        if after.formerHandles != before.formerHandles { try storeFormerHandles(of: after) }
        for token in before.startTokens where !after.startTokens.contains(token) {
            try transaction.run(
                "DELETE FROM registry_start_tokens WHERE user_id = $1 AND device_id = $2 AND attributes_type = $3",
                [.text(after.id), .text(token.deviceID), .text(token.attributesType)])
        }
        for token in after.startTokens where !before.startTokens.contains(token) { try store(token, of: after.id) }
        for card in before.cards where !after.cards.contains(where: { $0.id == card.id }) {
            try transaction.run("DELETE FROM registry_activities WHERE id = $1", [.text(card.id)])
        }
        let changed = after.cards.filter { !before.cards.contains($0) }
        for card in changed where card.token == nil { try store(card, of: after.id) }
        for card in changed where card.token != nil { try store(card, of: after.id) }
    }

    func delete(_ userID: String) throws {
        try transaction.run("DELETE FROM registry_users WHERE user_id = $1", [.text(userID)])
    }

    private func handles(of userID: String) throws -> (owned: [User.OwnedHandle], former: [Handle]) {
        let rows = try transaction.run(
            """
            SELECT handle_hash, sealed, position, is_canonical, CAST(0 AS BIGINT) AS is_former
            FROM registry_handles WHERE user_id = $1
            UNION ALL SELECT handle_hash, sealed, position, CAST(0 AS BIGINT), CAST(1 AS BIGINT)
            FROM registry_former_handles WHERE user_id = $1
            ORDER BY position
            """, [.text(userID)])
        var owned: [User.OwnedHandle] = []
        var former: [Handle] = []
        for row in rows {
            let text = try vault.open(.handle, row.blob("sealed"), hash: row.blob("handle_hash"))
            guard let handle = Handle(text) else {
                throw DatabaseError(.read, code: "handle", "a stored handle is not one")
            }
            if try row.bool("is_former") {
                former.append(handle)
            } else {
                owned.append(User.OwnedHandle(handle: handle, isCanonical: try row.bool("is_canonical")))
            }
        }
        return (owned, former)
    }

    private func storeFormerHandles(of user: User) throws {
        try transaction.run("DELETE FROM registry_former_handles WHERE user_id = $1", [.text(user.id)])
        for (position, handle) in user.formerHandles.enumerated() {
            try transaction.run(
                """
                INSERT INTO registry_former_handles (user_id, handle_hash, sealed, position) VALUES ($1, $2, $3, $4)
                """,
                [
                    .text(user.id), .blob(vault.hash(.handle, handle.text)), .blob(vault.seal(.handle, handle.text)),
                    .integer(position),
                ])
        }
    }

    private func startTokens(of userID: String) throws -> [User.StartToken] {
        let rows = try transaction.run(
            "SELECT * FROM registry_start_tokens WHERE user_id = $1 ORDER BY device_id, attributes_type",
            [.text(userID)])
        return try rows.map { row in
            User.StartToken(
                deviceID: try row.text("device_id"), attributesType: try row.text("attributes_type"),
                token: try vault.open(.token, row.blob("sealed"), hash: row.blob("token_hash")),
                environment: try row.environment(), bundleID: try row.optionalText("bundle_id"),
                wantsInputPushToken: try row.bool("wants_input_push_token"),
                registeredAt: try row.timestamp("registered_at"), timeZone: try row.optionalText("time_zone"),
                locale: try row.optionalText("locale"))
        }
    }

    private func cards(of userID: String) throws -> [Card] {
        let rows = try transaction.run(
            "SELECT * FROM registry_activities WHERE user_id = $1 ORDER BY started_at, id", [.text(userID)])
        return try rows.map { row in
            var token: String?
            if let sealed = try row.optionalBlob("sealed") {
                token = try vault.open(.token, sealed, hash: row.blob("token_hash"))
            }
            return Card(
                id: try row.text("id"), deviceID: try row.text("device_id"),
                attributesType: try row.text("attributes_type"), sessionID: try row.optionalText("session_id"),
                generation: Int(try row.integer("generation")),
                state: RegistryRecord.State(rawValue: try row.text("state")),
                ending: try row.optionalText("ending").flatMap(Card.Ending.init),
                startRequest: try row.optionalText("start_request"),
                startTimestamp: try row.optionalInteger("start_timestamp"),
                isStartRepeated: try row.bool("is_start_repeated"),
                isStartAccepted: try row.bool("is_start_accepted"), isDoubted: try row.bool("is_doubted"),
                activityID: try row.optionalText("activity_id"),
                token: token, environment: try row.environment(), bundleID: try row.optionalText("bundle_id"),
                registeredAt: try row.timestamp("registered_at"), startedAt: try row.timestamp("started_at"),
                changedAt: try row.timestamp("changed_at"))
        }
    }

    private func store(_ owned: User.OwnedHandle, at position: Int, of userID: String) throws {
        try transaction.run(
            """
            INSERT INTO registry_handles (handle_hash, sealed, user_id, position, is_canonical)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (handle_hash) DO UPDATE SET sealed = excluded.sealed, position = excluded.position,
                is_canonical = excluded.is_canonical
            """,
            [
                .blob(vault.hash(.handle, owned.handle.text)), .blob(vault.seal(.handle, owned.handle.text)),
                .text(userID), .integer(position), .bool(owned.isCanonical),
            ])
    }

    private func store(_ token: User.StartToken, of userID: String) throws {
        try transaction.run(
            """
            INSERT INTO registry_start_tokens (user_id, device_id, attributes_type, token_hash, sealed, environment,
                bundle_id, wants_input_push_token, registered_at, time_zone, locale)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            [
                .text(userID), .text(token.deviceID), .text(token.attributesType),
                .blob(vault.hash(.token, token.token)), .blob(vault.seal(.token, token.token)),
                .optional(token.environment?.rawValue), .optional(token.bundleID), .bool(token.wantsInputPushToken),
                .integer(token.registeredAt.millisecondsSince1970), .optional(token.timeZone), .optional(token.locale),
            ])
    }

    private func store(_ card: Card, of userID: String) throws {
        try transaction.run(
            """
            INSERT INTO registry_activities (id, user_id, device_id, attributes_type, session_id, generation, state,
                ending, start_request, activity_id, token_hash, sealed, environment, bundle_id, registered_at,
                started_at, changed_at, start_timestamp, is_start_repeated, is_start_accepted, is_doubted)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
            ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, generation = excluded.generation,
                state = excluded.state, ending = excluded.ending, start_request = excluded.start_request,
                start_timestamp = excluded.start_timestamp, is_start_repeated = excluded.is_start_repeated,
                is_start_accepted = excluded.is_start_accepted, is_doubted = excluded.is_doubted,
                activity_id = excluded.activity_id,
                token_hash = excluded.token_hash, sealed = excluded.sealed, environment = excluded.environment,
                bundle_id = excluded.bundle_id, registered_at = excluded.registered_at,
                started_at = excluded.started_at, changed_at = excluded.changed_at
            """,
            [
                .text(card.id), .text(userID), .text(card.deviceID), .text(card.attributesType),
                .optional(card.sessionID), .integer(card.generation), .text(card.state.rawValue),
                .optional(card.ending?.rawValue), .optional(card.startRequest), .optional(card.activityID),
                .optional(card.token.map { vault.hash(.token, $0) }),
                .optional(card.token.map { vault.seal(.token, $0) }),
                .optional(card.environment?.rawValue), .optional(card.bundleID),
                .integer(card.registeredAt.millisecondsSince1970), .integer(card.startedAt.millisecondsSince1970),
                .integer(card.changedAt.millisecondsSince1970), .optional(card.startTimestamp),
                .bool(card.isStartRepeated), .bool(card.isStartAccepted), .bool(card.isDoubted),
            ])
    }
}

extension Row {
    fileprivate func timestamp(_ name: String) throws(DatabaseError) -> Timestamp {
        Timestamp(millisecondsSince1970: try integer(name))
    }

    fileprivate func environment() throws(DatabaseError) -> APNSEnvironment? {
        try optionalText("environment").flatMap(APNSEnvironment.init)
    }
}
