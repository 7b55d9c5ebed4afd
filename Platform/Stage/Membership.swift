/// Which replicas of a stage are there, from what was heard of them.
struct Membership: Sendable {
    /// A replica that was not heard of for so long is gone; three times what passes between two signs of life.
    static let patience = 6.0

    private let own: String
    private var lastHeard: [String: Double] = [:]

    init(own: String) { self.own = own }

    /// Notes a sign of life at `now`, monotonic seconds.
    ///
    /// Returns whether the replica is new.
    mutating func heard(from member: String, at now: Double) -> Bool {
        lastHeard.updateValue(now, forKey: member) == nil
    }

    /// Notes that a replica said goodbye.
    mutating func left(_ member: String) { lastHeard[member] = nil }

    /// Everybody who is there, oneself always included.
    mutating func members(at now: Double) -> [String] {
        lastHeard = lastHeard.filter { now - $0.value <= Self.patience }
        return Set(lastHeard.keys).union([own]).sorted()
    }
}
