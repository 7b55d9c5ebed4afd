package import Runtime

extension Settings {
    /// `REDIS_URL`; without it every look-up goes to the registry.
    package mutating func redisURL() -> Secret<String>? {
        absent("REDIS_URL", "Redis, redis://[USER:PASSWORD@]HOST:PORT/DB or rediss://; without it look-ups are slower")
        {
            Secret($0)
        }
    }

    /// `HASH_KEY_FILE` and `DATA_KEY_FILES`; `nil` stands in while the problems are gathered.
    package mutating func cacheKeys() -> CacheKeys? {
        let hash = required(
            "HASH_KEY_FILE", "path of the key that handles are hashed with, 16 bytes or more", placeholder: nil
        ) { try CacheKeys.hashKey($0) }
        let sealing = required(
            "DATA_KEY_FILES",
            "paths of the keys that data at rest is sealed with, comma-separated, the first one seals",
            placeholder: nil
        ) { try CacheKeys.keyring($0) }
        guard let hash, let sealing else { return nil }
        return CacheKeys(hash: hash, sealing: sealing)
    }
}
