import Foundation
import Runtime
import Shared
import Testing

@testable import RegistrationCore

/// The app on a phone, without ActivityKit: the client over the URLSession transport, running until `body` returns.
struct Phone: Sendable {
    let client: RegistrationClient
    let ended: Locked<[String]>
    let events: Locked<[RegistrationClient.Event]>

    var refusals: [RegistrationClient.Event] {
        events.withLock { $0.filter { if case .refused = $0 { true } else { false } } }
    }

    /// - Parameters:
    ///   - folder: The app's own; with the same one again it is the next launch of the app.
    ///   - timeZone: Where the phone is.
    ///   - locale: As its settings have it.
    ///   - signIn: Gives the JWT.
    static func launch(
        _ url: String, folder: String, user: String = "sam", timeZone: TimeZone = .gmt,
        locale: Locale = Locale(identifier: "en_US"), signIn: @escaping RegistrationClient.SignIn,
        _ body: (Phone) async throws -> Void
    ) async throws {
        var configuration = RegistrationConfiguration(
            registry: try #require(URL(string: url)), userID: user, bundleID: "com.example.app", environment: .sandbox,
            wantsInputPushToken: true, folder: URL(fileURLWithPath: folder))
        configuration.retry = RetrySchedule(base: 0.02, cap: 0.2, longest: 1)
        configuration.timeZone = timeZone
        configuration.locale = locale
        let transport = try URLSessionTransport(folder: configuration.folder, backgroundIdentifier: nil)
        let ended = Locked<[String]>([])
        let events = Locked<[RegistrationClient.Event]>([])
        let client = RegistrationClient(
            configuration, transport: transport, signIn: signIn, end: { ids in ended.withLock { $0 += ids } },
            log: { event in events.withLock { $0.append(event) } })
        let work = Task { await client.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(Phone(client: client, ended: ended, events: events))) } catch {
            result = .failure(error)
        }
        work.cancel()
        transport.close()
        await work.value
        try result.get()
    }

    /// ActivityKit shows a card and gives it a token.
    func show(_ id: String, session: String?, token: UInt8, kind: String = "CoachAttributes") async {
        await client.found(
            RunningActivity(id: id, attributesType: kind, sessionID: session, startedAt: Date()))
        await client.token(Data(repeating: token, count: 32), of: id)
    }

    func startToken(_ token: UInt8, kind: String = "CoachAttributes") async {
        await client.startToken(Data(repeating: token, count: 80), of: kind)
    }

    func isAllTold() async -> Bool { await client.pendingCount == 0 }
}

extension RunningActivity {
    static func coach(_ id: String, session: String? = "s1") -> RunningActivity {
        RunningActivity(id: id, attributesType: "CoachAttributes", sessionID: session)
    }
}
