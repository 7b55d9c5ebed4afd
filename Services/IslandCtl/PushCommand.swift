import APNSClient
import Crypto
import Foundation
import Runtime
import Shared

/// `islandctl push`: one push to one token by hand, for a first try with a real device.
struct PushCommand {
    static let options: Set = [
        "--event", "--token", "--state", "--environment", "--key", "--key-id", "--team", "--bundle", "--user",
        "--session", "--priority", "--stale-after", "--dismiss-after", "--title", "--body", "--url", "--ca",
    ]

    private let arguments: Arguments
    private let surroundings: Surroundings
    private let kind: IslandKind
    private let event: String
    private let read: (String) throws -> Data

    init(
        _ arguments: Arguments, _ surroundings: Surroundings, read: @escaping (String) throws -> Data
    ) throws {
        try arguments.require(words: 1, options: Self.options)
        self.arguments = arguments
        self.surroundings = surroundings
        self.read = read
        kind = try IslandCtl.kind(arguments.words[0])
        guard let event = arguments.options["--event"], ["start", "update", "end"].contains(event) else {
            throw UsageError("push: --event is needed, start, update or end")
        }
        self.event = event
    }

    func run() async throws -> IslandCtl.Result {
        let state = try state()
        let report = StateReport(state, kind: kind)
        guard report.isShown else {
            return .init(status: 1, output: arguments.isJSON ? IslandCtl.line(report.json) : report.text)
        }
        let token = try token()
        let access = try APNSAccess(arguments, surroundings)
        let push = PushRequest(
            token: token, bundleID: access.bundleID, priority: try priority(),
            expiration: surroundings.clock.seconds + 600, collapseID: nil, body: try body(state))
        let answer = try await access.send(push)
        return .init(status: answer.isAccepted ? 0 : 1, output: output(answer, access, push))
    }

    private func output(_ answer: APNSAccess.Answer, _ access: APNSAccess, _ push: PushRequest) -> String {
        guard arguments.isJSON else {
            let verdict = answer.isAccepted ? "accepted" : "refused: \(answer.reason)"
            return "\(verdict) (\(answer.status), \(access.environment.rawValue), \(push.body.count) bytes)\n"
                + (answer.words.map { "    \($0)\n" } ?? "")
        }
        var fields: [String: AnyJSON] = [
            "accepted": .bool(answer.isAccepted), "status": .integer(Int64(answer.status)),
            "environment": .string(access.environment.rawValue), "body": AnyJSON(parsing: push.body) ?? .null,
        ]
        if !answer.reason.isEmpty { fields["reason"] = .string(answer.reason) }
        if let words = answer.words { fields["words"] = .string(words) }
        return IslandCtl.line(.object(fields))
    }

    private func state() throws -> [UInt8] {
        guard let path = arguments.options["--state"], path != "example" else { return try kind.example() }
        do { return Array(try read(path)) } catch { throw UsageError("cannot read \(path)") }
    }

    private func token() throws(UsageError) -> String {
        guard let text = arguments.options["--token"] else {
            throw UsageError(
                "push: --token is needed, the push-to-start token for a start, the card's update token for the rest")
        }
        let isToken = text.utf8.count >= 16 && text.utf8.count.isMultiple(of: 2) && text.allSatisfy(\.isHexDigit)
        guard isToken else { throw UsageError("--token: expected hexadecimal digits, as the app prints them") }
        return text.lowercased()
    }

    private func priority() throws(UsageError) -> Int {
        guard let text = arguments.options["--priority"] else { return 10 }
        guard let number = Int(text), [5, 10].contains(number) else { throw UsageError("--priority: expected 5 or 10") }
        return number
    }

    private func duration(_ option: String, _ usual: Duration) throws(UsageError) -> Int64 {
        guard let text = arguments.options[option] else { return usual.components.seconds }
        guard let duration = Duration(text) else { throw UsageError("\(option): expected 90s, 15m or 8h") }
        return duration.components.seconds
    }

    private func body(_ state: [UInt8]) throws -> [UInt8] {
        let now = surroundings.clock.seconds
        let stale = now + (try duration("--stale-after", .seconds(3600)))
        let alert = DesiredIsland.Alert(
            title: arguments.options["--title"] ?? kind.startAlert.title,
            body: arguments.options["--body"] ?? kind.startAlert.body)
        let hasAlert = arguments.options["--title"] != nil || arguments.options["--body"] != nil
        switch event {
        case "start":
            let session = arguments.options["--session"] ?? UUID().uuidString.lowercased()
            return try PushBody.start(
                timestamp: now, contentState: state, attributesType: kind.attributesType,
                attributes: kind.attributes(userID: arguments.options["--user"] ?? "islandctl", sessionID: session),
                alert: alert, staleDate: stale, asksForUpdateToken: true)
        case "update":
            return try PushBody.update(
                timestamp: now, contentState: state, staleDate: stale, alert: hasAlert ? alert : nil)
        default:
            return try PushBody.end(
                timestamp: now, contentState: state,
                dismissalDate: now + (try duration("--dismiss-after", .seconds(900))))
        }
    }
}
