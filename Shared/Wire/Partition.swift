/// Which of a stage's queues a key's messages go through.
public enum Partition {
    /// The partition of `key` among `count`: the first four bytes of SHA-256 of its UTF-8, big-endian, modulo `count`.
    ///
    /// Every publisher must agree on this for ever, or one user's messages overtake each other: golden vectors freeze it.
    public static func of(_ key: String, among count: Int) -> Int {
        precondition(count > 0, "a stage has at least one partition")
        let digest = SHA256Digest.of(Array(key.utf8))
        let head = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Int(head % UInt32(count))
    }

    /// The number as it stands in queue names and routing keys: at least two digits.
    public static func name(_ partition: Int) -> String { partition < 10 ? "0\(partition)" : "\(partition)" }
}
