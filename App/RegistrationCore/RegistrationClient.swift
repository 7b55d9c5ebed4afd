public import Foundation

/// Tells the registry which tokens and cards this phone has, until it has heard it.
///
/// Whoever makes one runs `run()`, from the launch of the app on. What was reported is in a file before anything is sent.
public actor RegistrationClient {
    /// Something that happened, for a log; holds no token.
    public enum Event: Sendable, Equatable {
        case told(String)
        /// The registry will never take it.
        case refused(String, status: Int)
        case putOff(String, reason: String)
        /// Pending reports could not be kept on the disk, or not be read.
        case file(String)
    }

    /// Gives a valid JWT of the user's.
    ///
    /// It must come to an end by itself. `refused` is the one that the registry would not take, to tell a cached token that is
    /// still good from one that is not.
    public typealias SignIn = @Sendable (_ refused: String?) async throws -> String

    private let configuration: RegistrationConfiguration
    private let transport: any RegistryTransport
    private let signIn: SignIn
    private let end: @Sendable ([String]) async -> Void
    private let log: @Sendable (Event) -> Void
    private let file: RegistrationFile
    private let deviceID: String
    private var queue: ReportQueue
    private var ledger = ActivityLedger()
    /// Tries that wait for their time and have been superseded.
    private var superseded: [String] = []
    private var jwt: String?
    private var refusedJWT: String?
    private var signingIn: Task<String, any Error>?
    private var credentialOfCall: [String: String] = [:]
    /// Runs while nothing is handed over because something of ours failed, such as the sign-in.
    private var pause: Task<Void, Never>?
    private var pausesInARow = 0
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private var caughtUp: [@Sendable () -> Void] = []

    /// - Parameters:
    ///   - end: Ends these cards at once: the registry says that they are superseded or of a session that is over.
    public init(
        _ configuration: RegistrationConfiguration, transport: any RegistryTransport, signIn: @escaping SignIn,
        end: @escaping @Sendable ([String]) async -> Void, log: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.transport = transport
        self.signIn = signIn
        self.end = end
        self.log = log
        file = RegistrationFile(folder: configuration.folder)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        var saved: RegistrationFile.Contents?
        do { saved = try file.load() } catch { log(.file("cannot be read: \(error)")) }
        deviceID = configuration.deviceID ?? saved?.deviceID ?? UUID().uuidString
        queue = ReportQueue(saved?.userID == configuration.userID ? saved?.pending ?? [] : [])
    }

    /// How many reports the registry has not acknowledged.
    public var pendingCount: Int { queue.pending.count }

    // MARK: What the app saw

    /// The app was launched, or has come to the front.
    ///
    /// Afterwards all tokens are to be reported, also those that have not changed, and then `reconcile()` called.
    ///
    /// - Parameter activities: All cards that ActivityKit knows of.
    public func refresh(_ activities: [RunningActivity: ActivityPhase]) {
        if pause != nil { endPause() }
        tell(ledger.refresh(activities))
    }

    /// Asks the registry, after all that was reported so far, which of the cards that run are to end.
    public func reconcile() { tell([.running(ledger.running.map(\.id))]) }

    /// ActivityKit has this card now.
    public func found(_ activity: RunningActivity) { ledger.found(activity) }

    /// A card of this kind can be started with this token.
    public func startToken(_ token: Data, of attributesType: String) {
        if let report = ledger.startToken(token, of: attributesType) { tell([report]) }
    }

    /// The card that was found before can be updated with this token.
    public func token(_ token: Data, of activityID: String) { tell(ledger.token(token, of: activityID)) }

    /// The card that was found before goes into this phase.
    public func changed(_ activityID: String, to phase: ActivityPhase) {
        if let report = ledger.changed(activityID, to: phase) { tell([report]) }
    }

    /// The app is about to end these cards itself: their going is not the user's doing.
    public func willEnd(_ activityIDs: [String]) { ledger.willEnd(activityIDs) }

    /// Calls `handler` when all answers of a background session have been worked.
    public func whenCaughtUp(_ handler: @escaping @Sendable () -> Void) { caughtUp.append(handler) }

    /// Forgets what is not told yet, as when the user signs out.
    public func forget() async {
        let ids = queue.pending.map(\.id)
        queue = ReportQueue()
        ledger = ActivityLedger()
        save()
        await transport.cancel(ids)
    }

    private func tell(_ reports: [Report]) {
        var isNew = false
        for report in reports {
            let added = queue.add(report, id: UUID().uuidString, at: Date())
            superseded += added.cancelled
            isNew = isNew || added.isNew
        }
        guard isNew else { return }
        save()
        wake.yield()
    }

    private func save() {
        let contents = RegistrationFile.Contents(
            deviceID: deviceID, userID: configuration.userID, pending: queue.pending)
        do { try file.save(contents) } catch { log(.file("cannot be written: \(error)")) }
    }

    // MARK: Telling the registry

    /// Tells what there is to tell, until it is cancelled.
    public func run() async {
        save()
        queue.adopt(underWay: await transport.underWay())
        await withDiscardingTaskGroup { group in
            group.addTask { [transport] in
                for await event in transport.events { await self.work(event) }
            }
            wake.yield()
            for await _ in wakes { await pump() }
            group.cancelAll()
        }
        pause?.cancel()
    }

    /// Gives the transport what may be told now.
    private func pump() async {
        let cancelled = superseded
        superseded = []
        await transport.cancel(cancelled)
        guard pause == nil else { return }
        let items = queue.takeStartable(at: Date())
        for (index, item) in items.enumerated() {
            guard await handOver(item, after: 0) else {
                for item in items[index...] { queue.putBack(item.id) }
                return
            }
        }
    }

    /// Gives one report to the transport.
    ///
    /// - Returns: Whether that could be done. If not, nothing is handed over for a while: without a credential no report can go.
    private func handOver(_ item: ReportQueue.Pending, after delay: TimeInterval) async -> Bool {
        do {
            let jwt = try await credential()
            // It may have been superseded while we waited.
            guard queue.contains(item.id) else { return true }
            let call = try RegistryCall(item.report, configuration, deviceID: deviceID)
            credentialOfCall[item.id] = jwt
            try transport.begin(
                TransportCall(
                    id: item.id, method: call.method, url: try configuration.url(of: call.target), jwt: jwt,
                    body: call.body, hasFailed: queue.failures(of: item.id) > 0),
                after: delay)
            pausesInARow = 0
            return true
        } catch {
            log(.putOff(item.report.name, reason: "\(error)"))
            beginPause()
            return false
        }
    }

    private func beginPause() {
        pausesInARow += 1
        let delay = configuration.retry.delay(after: pausesInARow, retryAfter: nil)
        pause?.cancel()
        // Owned by this actor: `endPause` and the end of `run` cancel it.
        pause = Task {
            // Cancelled: whoever did that goes on at once, or not at all.
            guard (try? await Task.sleep(for: .seconds(delay))) != nil else { return }
            self.endPause()
        }
    }

    private func endPause() {
        pause?.cancel()
        pause = nil
        wake.yield()
    }

    /// A JWT that has not been refused; all who need one at the same time wait for the same.
    private func credential() async throws -> String {
        if let jwt { return jwt }
        if let signingIn { return try await signingIn.value }
        let task = Task { [signIn, refusedJWT] in try await signIn(refusedJWT) }
        signingIn = task
        defer { signingIn = nil }
        let fresh = try await task.value
        guard !fresh.isEmpty else { throw SignInGaveNothing() }
        jwt = fresh
        return fresh
    }

    // MARK: How it went

    private func work(_ event: TransportEvent) async {
        switch event {
        case .caughtUp:
            for handler in caughtUp { handler() }
            caughtUp = []
        case .failed(let id, let reason): await settle(id, .failed(retryAfter: nil), reason)
        case .answered(let id, let answer):
            let outcome = ReportQueue.Outcome(answer)
            // A credential that has been replaced meanwhile is not to blame.
            if outcome == .unauthorized, let used = credentialOfCall[id] ?? jwt, used == jwt {
                refusedJWT = used
                jwt = nil
            }
            let item = queue.pending.first { $0.id == id }
            if outcome == .refused, let item { log(.refused(item.report.name, status: answer.status)) }
            await settle(id, outcome, "status \(answer.status)")
            if outcome == .accepted, case .running? = item?.report { await endSurplus(answer.body) }
        }
    }

    private func settle(_ id: String, _ outcome: ReportQueue.Outcome, _ reason: String) async {
        credentialOfCall[id] = nil
        guard let item = queue.pending.first(where: { $0.id == id }) else { return }
        switch queue.finished(id, outcome, at: Date(), configuration.retry) {
        case .superseded: save()
        case .settled:
            save()
            if outcome == .accepted { log(.told(item.report.name)) }
        case .retry(let delay):
            log(.putOff(item.report.name, reason: reason))
            if pause != nil {
                queue.putBack(id)
            } else if await !handOver(item, after: delay) {
                queue.putBack(id)
            }
        }
        await pump()
    }

    /// The registry says which of the cards are superseded or of sessions that are over.
    private func endSurplus(_ answer: Data) async {
        struct Answer: Decodable { let end: [String] }
        do {
            let surplus = try JSONDecoder().decode(Answer.self, from: answer).end
            guard !surplus.isEmpty else { return }
            ledger.willEnd(surplus)
            await end(surplus)
        } catch { log(.putOff("ending cards", reason: "the registry's answer cannot be read")) }
    }

    /// The app's sign-in gave an empty credential.
    private struct SignInGaveNothing: Error {}
}

extension ReportQueue.Outcome {
    init(_ answer: TransportAnswer) {
        switch answer.status {
        case 200..<300: self = .accepted
        case 401: self = .unauthorized
        case 408, 425, 429, 500...: self = .failed(retryAfter: answer.retryAfter)
        // A redirection that was not followed, or something that is wrong with what we say.
        default: self = .refused
        }
    }
}
