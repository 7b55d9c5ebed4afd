import Runtime

/// The agents that `AGENT` can name.
enum AgentChoice {
    static func agent(named name: String) throws -> AnyAgent? {
        switch name {
        case "coach": AnyAgent(CoachAgent())
        default: throw SettingsProblem("expected coach")
        }
    }
}
