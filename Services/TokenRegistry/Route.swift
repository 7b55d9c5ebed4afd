/// The calls of the HTTP interface, told apart by their paths.
enum Route: Equatable {
    case openAPI
    case user(String)
    case handles(user: String)
    case startToken(user: String, device: String)
    case activities(user: String, device: String)
    case activity(user: String, device: String, activity: String)

    init?(_ segments: [String]) {
        if segments == ["openapi.json"] {
            self = .openAPI
            return
        }
        guard segments.count >= 3, segments[0] == "v1", segments[1] == "users" else { return nil }
        let user = segments[2]
        let rest = Array(segments[3...])
        switch (rest.first, rest.count) {
        case (nil, 0): self = .user(user)
        case ("handles", 1): self = .handles(user: user)
        case ("devices", 3) where rest[2] == "start-token": self = .startToken(user: user, device: rest[1])
        case ("devices", 3) where rest[2] == "activities": self = .activities(user: user, device: rest[1])
        case ("devices", 4) where rest[2] == "activities":
            self = .activity(user: user, device: rest[1], activity: rest[3])
        default: return nil
        }
    }

    /// The name in the metrics.
    var name: String {
        switch self {
        case .openAPI: "openapi"
        case .user: "user"
        case .handles: "handles"
        case .startToken: "start-token"
        case .activities: "activities"
        case .activity: "activity"
        }
    }

    /// The path, with names in place of what is a user's.
    var template: String {
        switch self {
        case .openAPI: "/openapi.json"
        case .user: "/v1/users/{userID}"
        case .handles: "/v1/users/{userID}/handles"
        case .startToken: "/v1/users/{userID}/devices/{deviceID}/start-token"
        case .activities: "/v1/users/{userID}/devices/{deviceID}/activities"
        case .activity: "/v1/users/{userID}/devices/{deviceID}/activities/{activityID}"
        }
    }

    var methods: [String] {
        switch self {
        case .openAPI: ["GET", "HEAD"]
        case .user: ["GET", "DELETE"]
        case .handles, .startToken, .activities: ["PUT"]
        case .activity: ["PUT", "DELETE"]
        }
    }

    /// Whose path it is.
    var userID: String? {
        switch self {
        case .openAPI: nil
        case .user(let user), .handles(let user), .startToken(let user, _), .activities(let user, _),
            .activity(let user, _, _):
            user
        }
    }

    /// The parameters in the path, by the names that the description gives them.
    var parameters: [(name: String, value: String)] {
        switch self {
        case .openAPI: []
        case .user(let user), .handles(let user): [("userID", user)]
        case .startToken(let user, let device), .activities(let user, let device):
            [("userID", user), ("deviceID", device)]
        case .activity(let user, let device, let activity):
            [("userID", user), ("deviceID", device), ("activityID", activity)]
        }
    }
}
