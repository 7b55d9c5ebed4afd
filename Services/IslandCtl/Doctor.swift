import AMQP
import APNSClient
import Cache
import Crypto
import Database
import Foundation
import HTTPClient
import Runtime
import Shared

/// `islandctl doctor`: whether all that the services' settings name is there and lets us in.
///
/// It reads the same environment as the services, changes nothing, and leaves out what is not set.
struct Doctor {
    struct Finding: Equatable {
        enum Outcome: String { case well, ill, skipped }

        let part: String
        let outcome: Outcome
        let words: String
    }

    private static let timeout = Duration.seconds(10)

    private let arguments: Arguments
    private let surroundings: Surroundings

    init(_ arguments: Arguments, _ surroundings: Surroundings) throws(UsageError) {
        try arguments.require(words: 0, options: [])
        self.arguments = arguments
        self.surroundings = surroundings
    }

    func run() async -> IslandCtl.Result {
        async let first = examine("broker", needs: ["AMQP_URL"], broker)
        async let second = examine("redis", needs: ["REDIS_URL"], redis)
        async let third = examine("database", needs: ["DATABASE_URL"], database)
        async let fourth = examine("linq", needs: ["LINQ_API_TOKEN"], linq)
        async let fifth = examine(
            "apple", needs: ["APNS_KEY_FILE", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID"], apple)
        let findings = await [first, second, third, fourth, fifth]
        let isIll = findings.contains { $0.outcome == .ill }
        let isEmpty = findings.allSatisfy { $0.outcome == .skipped }
        let errors = isEmpty ? "islandctl: none of the services' settings is in the environment\n" : ""
        return IslandCtl.Result(status: isIll ? 1 : isEmpty ? 2 : 0, output: output(findings), errors: errors)
    }

    private func output(_ findings: [Finding]) -> String {
        guard arguments.isJSON else {
            return findings.map {
                "\($0.part.padding(toLength: 10, withPad: " ", startingAt: 0))"
                    + "\($0.outcome.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0))\($0.words)\n"
            }.joined()
        }
        return IslandCtl.line(
            .array(
                findings.map {
                    .object([
                        "part": .string($0.part), "outcome": .string($0.outcome.rawValue), "words": .string($0.words),
                    ])
                }))
    }

    private struct Ill: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// - Parameter needs: settings; without the first of them the part is not used, and the others belong to it.
    private func examine(
        _ part: String, needs: [String], _ look: @Sendable () async throws -> String
    ) async -> Finding {
        do {
            let missing = try needs.filter { try !isSet($0) }
            guard missing.count < needs.count else {
                return Finding(part: part, outcome: .skipped, words: "\(needs[0]) is not set")
            }
            guard missing.isEmpty else {
                return Finding(part: part, outcome: .ill, words: missing.joined(separator: ", ") + " is not set")
            }
            return Finding(part: part, outcome: .well, words: try await look())
        } catch {
            return Finding(part: part, outcome: .ill, words: "\(error)")
        }
    }

    private func isSet(_ name: String) throws(UsageError) -> Bool {
        // The name of a file is a setting in itself.
        if name.hasSuffix("_FILE") { return surroundings.environment[name]?.isEmpty == false }
        return try surroundings.setting(name) != nil
    }

    @Sendable private func broker() async throws -> String {
        let endpoint = try AMQPEndpoint(
            url: try surroundings.setting("AMQP_URL") ?? "", caFile: surroundings.setting("AMQP_CA_FILE"))
        let count = try surroundings.setting("PARTITIONS") ?? "16"
        guard let partitions = Int(count), (1...256).contains(partitions) else {
            throw Ill("PARTITIONS: expected a number from 1 to 256")
        }
        let topology = Topology(partitions: partitions)
        let publisher = AMQPPublisher(
            endpoint, name: "islandctl/doctor",
            requires: topology.exchanges.map { .exchange($0.name) } + topology.queues.map { .queue($0.name) },
            log: surroundings.log, metrics: Metrics())
        publisher.start()
        let result: Result<Void, any Error>
        do { result = .success(try await publisher.waitUntilReady(within: Self.timeout)) } catch {
            result = .failure(error)
        }
        await publisher.close()
        do { try result.get() } catch { throw Ill("\(endpoint): \(error)") }
        return "\(endpoint): \(topology.exchanges.count) exchanges and \(topology.queues.count) queues are there"
    }

    @Sendable private func redis() async throws -> String {
        let client = try RedisClient(
            url: try surroundings.setting("REDIS_URL") ?? "", connectTimeout: .seconds(5), log: surroundings.log,
            metrics: Metrics())
        let result: Result<Void, any Error>
        // A connection counts once it has logged in and got a first answer.
        do { result = .success(try await client.waitUntilConnected(within: Self.timeout)) } catch {
            result = .failure(error)
        }
        await client.close()
        try result.get()
        return "it answers"
    }

    @Sendable private func database() async throws -> String {
        let url = try surroundings.setting("DATABASE_URL") ?? ""
        // Opening would make a file that is not there, and a doctor changes nothing.
        if url.hasPrefix("sqlite:"), !FileManager.default.fileExists(atPath: String(url.dropFirst("sqlite:".count))) {
            return "the file is not there yet: a service makes it"
        }
        let database = try await Database.open(url, connections: 1, log: surroundings.log, metrics: Metrics())
        let result: Result<Void, any Error>
        do { result = .success(try await database.probe()) } catch { result = .failure(error) }
        await database.close()
        try result.get()
        return "\(database.dialect.rawValue) answers"
    }

    @Sendable private func linq() async throws -> String {
        let url = try surroundings.setting("LINQ_API_URL") ?? LinqCommand.usualURL
        let client = HTTPClient(userAgent: "islandctl", log: surroundings.log)
        let request = HTTPClientRequest(
            "GET", (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/v3/phone_numbers",
            headers: [(name: "Authorization", value: "Bearer \(try surroundings.setting("LINQ_API_TOKEN") ?? "")")],
            body: [])
        let result: Result<HTTPClientResponse, any Error>
        do { result = .success(try await client.send(request, within: Self.timeout)) } catch {
            result = .failure(error)
        }
        await client.close()
        let response = try result.get()
        guard response.status != 401 else { throw Ill("LINQ_API_TOKEN is not accepted") }
        guard response.status == 200 else { throw Ill("Linq answered \(response.status)") }
        let lines = AnyJSON(parsing: response.body)?["phone_numbers"]?.elements?.count
        return "the token is accepted" + (lines.map { ", the account has \($0) line\($0 == 1 ? "" : "s")" } ?? "")
    }

    /// A push to a token that nobody has: that APNs calls the token bad proves that it took key, team and topic.
    @Sendable private func apple() async throws -> String {
        let access = try APNSAccess(arguments, surroundings)
        let body = try PushBody.update(
            timestamp: surroundings.clock.seconds, contentState: try IslandKind(CoachAttributes.self).example(),
            staleDate: nil)
        let answer = try await access.send(
            PushRequest(
                token: RandomBytes.make(32).hexString, bundleID: access.bundleID, priority: 5, expiration: 0,
                collapseID: nil, body: body))
        guard answer.reason == "BadDeviceToken" else {
            throw Ill(
                "APNs (\(access.environment.rawValue)) answered \(answer.status) \(answer.reason)"
                    + (answer.words.map { ": \($0)" } ?? ""))
        }
        return "APNs (\(access.environment.rawValue)) takes key, team and bundle id"
    }
}
