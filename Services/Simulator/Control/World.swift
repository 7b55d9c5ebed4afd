import Foundation
import Runtime
import Shared

/// The parts of the simulator as one: what the controls, the page and the load runs work with.
final class World: Sendable {
    let linq: LinqEnd
    let apns: APNSEnd
    let phones: Phones
    let app: AppClient
    let trails: Trails
    let supervisor: Supervisor
    let onboards: Bool
    let environment: APNSEnvironment
    /// People whose account is being made, so that two first texts make one account.
    private let onboarding = Locked<[String: Task<Void, any Error>]>([:])

    init(
        linq: LinqEnd, apns: APNSEnd, phones: Phones, app: AppClient, trails: Trails, supervisor: Supervisor,
        environment: APNSEnvironment, onboards: Bool
    ) {
        self.linq = linq
        self.apns = apns
        self.phones = phones
        self.app = app
        self.trails = trails
        self.supervisor = supervisor
        self.environment = environment
        self.onboards = onboards
    }

    /// The id that somebody new gets as a user.
    static func userID(for handle: String) -> String {
        "user-" + handle.filter { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }
    }

    /// Gives a person who has none an account and a phone.
    ///
    /// Returns when the app has registered.
    func onboard(_ handle: String) async throws {
        guard phones.userID(of: handle) == nil || onboarding.withLock({ $0[handle] != nil }) else { return }
        let task = onboarding.withLock { tasks in
            if let task = tasks[handle] { return task }
            // Awaited below by everybody who wants this person on board.
            let task = Task {
                let userID = Self.userID(for: handle)
                try await self.phones.addUser(userID, handles: [handle])
                try await self.phones.addPhone(
                    "phone-1-\(userID)", of: userID, system: .iOS18, environment: self.environment)
            }
            tasks[handle] = task
            return task
        }
        defer { onboarding.withLock { $0[handle] = nil } }
        try await task.value
    }

    /// Moves the clocks on: those of all processes that share `CLOCK_FILE`, or else the phones' alone.
    func advance(by seconds: Double) throws {
        guard let file = ClockFile.ofProcess else { return phones.advance(by: seconds) }
        try file.move(by: seconds)
        phones.pass()
    }

    /// Somebody writes; somebody new is given an account first if that is wanted.
    func post(_ text: InboundText) async throws -> LinqEnd.Posted {
        if text.onboard ?? onboards { try await onboard(text.from) }
        return try linq.post(text)
    }

    /// Everything about a user, or about a handle that is nobody's.
    func view(of subject: String, messages: Int = StateView.threadLength) -> StateView {
        let userID = phones.userID(of: subject) ?? (phones.handles(of: subject).isEmpty ? nil : subject)
        let handles = userID.map(phones.handles) ?? [subject]
        let mine = userID.map(phones.phones) ?? []
        let chats = linq.book.withLock { book in
            book.chats.values.filter { chat in handles.contains(where: chat.handles.contains) }.map { chat in
                StateView.Chat(
                    chat, (book.threads[chat.id] ?? []).suffix(messages),
                    isOptedOut: chat.handles.contains(where: book.optedOut.contains), at: linq.now)
            }
        }
        let ends = Set(
            mine.flatMap { phone in
                phone.startTokens.values.map(tokenEnd) + phone.cards.compactMap(\.token).map(tokenEnd)
            })
        return StateView(
            userID: userID, handles: handles, now: Timestamp(phones.now), chats: chats.sorted { $0.id < $1.id },
            phones: mine.map { StateView.Phone($0, registrations: app.said(by: $0.deviceID)) },
            pushes: apns.recent(tokenEnds: ends), webhooks: linq.webhooks.recent.suffix(20))
    }
}
