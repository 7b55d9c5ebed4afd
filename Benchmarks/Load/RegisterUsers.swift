import Foundation
import HTTPClient
import Runtime
import Shared

/// Registers users as the customer's server and the app do: a handle and a running card for each.
enum RegisterUsers {
    static func run(_ options: [String: String]) async throws -> any Encodable {
        let url = try options.text("url")
        let key = try String(contentsOfFile: try options.text("key-file"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let first = try options.number("first-user", default: 0)
        let users = try options.number("users")
        // A card that a session of the agent's own is to take over has no session yet.
        let isOwned = options["sessions"] == "yes"
        let client = HTTPClient(userAgent: "load", log: Log(service: "load", level: .warning))
        let headers = [
            (name: "Authorization", value: "Bearer \(key)"), (name: "Content-Type", value: "application/json"),
        ]
        let start = monotonicSeconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<64 {
                group.addTask {
                    for number in stride(from: first + lane, to: first + users, by: 64) {
                        let user = MadeUpUser(number)
                        let session = isOwned ? #","sessionID":"\#(user.sessionID)""# : ""
                        for (path, body) in [
                            ("handles", #"{"handles":["\#(user.handle)"]}"#),
                            (
                                "devices/\(user.deviceID)/activities/card-\(number)",
                                #"{"attributesType":"CoachAttributes","token":"\#(user.token)"\#(session)}"#
                            ),
                        ] {
                            let request = HTTPClientRequest(
                                "PUT", "\(url)/v1/users/\(user.id)/\(path)", headers: headers, body: Array(body.utf8))
                            let answer = try await client.send(request, within: .seconds(30))
                            guard answer.status == 204 else {
                                throw Failure(
                                    description:
                                        "\(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = monotonicSeconds() - start
        await client.close()
        return Rate(users, in: seconds)
    }
}
