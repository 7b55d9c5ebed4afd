// RegistrationClient and its configuration come with this module: an app imports it alone.
@_exported import RegistrationCore

#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Foundation
    import Shared

    /// Keeps the registry informed of this phone's Live Activity tokens and cards.
    ///
    /// Make one and call `start()` in `application(_:didFinishLaunchingWithOptions:)`, at each launch, also one in the background:
    /// a push that starts a card wakes the app for some seconds, and that is when the card's token comes.
    @MainActor
    public final class IslandRegistration {
        /// The name of the background session, which `application(_:handleEventsForBackgroundURLSession:…)` is called with.
        public static let sessionIdentifier = "isthmus.registration"
        /// A launch in the background may be slower than the first value of a stream, and a property may be slower still.
        private static let secondLook = Duration.seconds(2)

        private let kinds: [ObservedKind]
        private let transport: URLSessionTransport
        private let client: RegistrationClient
        private var work: Task<Void, Never>?

        /// - Parameters:
        ///   - kinds: What the app shows, such as `[ObservedKind(CoachAttributes.self)]`.
        ///   - signIn: Gives a valid JWT of the user's; see `RegistrationClient.SignIn`.
        public init(
            _ configuration: RegistrationConfiguration, kinds: [ObservedKind],
            signIn: @escaping RegistrationClient.SignIn,
            log: @escaping @Sendable (RegistrationClient.Event) -> Void = { _ in }
        ) throws {
            self.kinds = kinds
            transport = try URLSessionTransport(
                folder: configuration.folder, backgroundIdentifier: Self.sessionIdentifier)
            client = RegistrationClient(
                configuration, transport: transport, signIn: signIn,
                end: { ids in for kind in kinds { await kind.end(ids) } }, log: log)
        }

        /// Observes tokens and cards from now on.
        public func start() {
            guard work == nil else { return }
            // Owned by this object: `stop()` cancels it.
            work = Task { [client, kinds] in
                await withDiscardingTaskGroup { group in
                    group.addTask { await client.run() }
                    for kind in kinds { group.addTask { await kind.observe(client) } }
                    await Self.look(kinds, client)
                    // Cancelled: `stop()` was called.
                    guard (try? await Task.sleep(for: Self.secondLook)) != nil else { return }
                    for kind in kinds { await kind.look(client) }
                }
            }
        }

        /// Tells the registry again what runs, and all tokens: call it when the app comes to the front.
        public func refresh() {
            // Ends by itself: it only reads properties and puts reports into the queue.
            Task { [client, kinds] in await Self.look(kinds, client) }
        }

        /// Passes on what `UIApplicationDelegate` is told of the background session; other sessions' events are not touched.
        ///
        /// - Returns: Whether the session was ours; then `completion` is called in time.
        @discardableResult
        public func handleEvents(
            forBackgroundURLSession identifier: String, completion: @escaping @MainActor () -> Void
        ) -> Bool {
            guard identifier == Self.sessionIdentifier else { return false }
            // Ends by itself, as soon as the client has noted the handler.
            Task { [client] in
                await client.whenCaughtUp { Task { @MainActor in completion() } }
            }
            return true
        }

        /// Ends the user's cards, tells the registry so as far as that can be done within `limit`, and stops.
        ///
        /// The start token stays the user's at the registry until somebody else signs in on this phone, or the backend
        /// erases the user: the app has no call to take it back.
        public func signOut(within limit: Duration = .seconds(5)) async {
            let running = kinds.flatMap { $0.activities().keys.map(\.id) }
            await client.willEnd(running)
            for kind in kinds { await kind.end(running) }
            let end = ContinuousClock.now + limit
            while await client.pendingCount > 0, ContinuousClock.now < end {
                // Cancelled: the caller does not want to wait.
                guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { break }
            }
            await client.forget()
            stop()
        }

        /// Observes nothing any more; what is not told yet stays for the next launch.
        public func stop() {
            work?.cancel()
            work = nil
            transport.close()
        }

        private nonisolated static func look(_ kinds: [ObservedKind], _ client: RegistrationClient) async {
            var activities: [RunningActivity: ActivityPhase] = [:]
            for kind in kinds { activities.merge(kind.activities()) { first, _ in first } }
            await client.refresh(activities)
            for kind in kinds { await kind.look(client) }
            await client.reconcile()
        }
    }
#endif
