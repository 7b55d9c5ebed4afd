public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls over `URLSession`: the first try at once, in the app's own process; later ones in a background session.
///
/// A background session goes on when the app is asleep or was ended, waits for the network and wakes the app with the answer.
/// But what an app in the background asks of it, it does when it sees fit, so the first try does not wait for that.
public final class URLSessionTransport: RegistryTransport {
    /// An app that was woken by a push has about thirty seconds.
    private static let timeout: TimeInterval = 10

    public let events: AsyncStream<TransportEvent>
    private let feed: AsyncStream<TransportEvent>.Continuation
    private let immediate: URLSession
    private let background: URLSession?
    private let bodies: BodyFiles
    #if canImport(FoundationNetworking)
        private let waiting = WaitingTasks()
    #endif

    /// - Parameters:
    ///   - folder: Where the bodies of calls are kept while those are on their way.
    ///   - backgroundIdentifier: Names the background session, the same at each launch; `nil`: none, as where there are none.
    public init(folder: URL, backgroundIdentifier: String?) throws {
        bodies = try BodyFiles(folder: folder.appendingPathComponent("bodies"))
        // As many events wait as there are calls under way, and ReportQueue bounds those.
        (events, feed) = AsyncStream.makeStream()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.timeout
        configuration.timeoutIntervalForResource = Self.timeout
        immediate = Self.session(configuration, feed, bodies)
        #if canImport(FoundationNetworking)
            background = nil
        #else
            background = backgroundIdentifier.map { identifier in
                let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
                configuration.sessionSendsLaunchEvents = true
                configuration.timeoutIntervalForResource = 24 * 3600
                return Self.session(configuration, feed, bodies)
            }
        #endif
    }

    private static func session(
        _ configuration: URLSessionConfiguration, _ feed: AsyncStream<TransportEvent>.Continuation, _ bodies: BodyFiles
    ) -> URLSession {
        let queue = OperationQueue()
        // The delegate's memory is touched by this queue alone.
        queue.maxConcurrentOperationCount = 1
        return URLSession(
            configuration: configuration, delegate: SessionDelegate(feed, bodies), delegateQueue: queue)
    }

    public func begin(_ call: TransportCall, after delay: TimeInterval) throws {
        let session = call.hasFailed ? background ?? immediate : immediate
        var request = URLRequest(url: call.url)
        request.httpMethod = call.method
        request.setValue("Bearer \(call.jwt)", forHTTPHeaderField: "Authorization")
        let task: URLSessionTask
        if let body = call.body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            // A background session takes the body from a file only.
            task = session.uploadTask(with: request, fromFile: try bodies.write(body, call.id))
        } else {
            task = session.downloadTask(with: request)
        }
        task.taskDescription = call.id
        guard delay > 0 else { return task.resume() }
        #if canImport(FoundationNetworking)
            waiting.begin(task, call.id, after: delay)
        #else
            task.earliestBeginDate = Date(timeIntervalSinceNow: delay)
            task.resume()
        #endif
    }

    public func cancel(_ ids: [String]) async {
        guard !ids.isEmpty else { return }
        #if canImport(FoundationNetworking)
            for id in ids { waiting.take(id)?.cancel() }
        #endif
        for task in await tasks() where ids.contains(task.taskDescription ?? "") { task.cancel() }
    }

    public func underWay() async -> Set<String> {
        let ids = Set(await tasks().compactMap(\.taskDescription))
        bodies.removeAll(except: ids)
        return ids
    }

    private func tasks() async -> [URLSessionTask] {
        var tasks: [URLSessionTask] = []
        for session in [immediate, background].compactMap({ $0 }) {
            tasks += await withCheckedContinuation { continuation in
                session.getAllTasks { continuation.resume(returning: $0) }
            }
        }
        return tasks
    }

    public func close() {
        immediate.invalidateAndCancel()
        // Two sessions of one name must not be there at the same time; what is cancelled is told again at the next launch.
        background?.invalidateAndCancel()
        feed.finish()
    }
}

#if canImport(FoundationNetworking)
    /// Tasks that begin later, which this Foundation has no way to say.
    private final class WaitingTasks: @unchecked Sendable {
        // Sendable is right although unchecked: `tasks` is touched with the lock held alone.
        private var tasks: [String: URLSessionTask] = [:]
        private let lock = NSLock()

        func begin(_ task: URLSessionTask, _ id: String, after delay: TimeInterval) {
            lock.withLock { tasks[id] = task }
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { self.take(id)?.resume() }
        }

        /// Each task is taken once: by its time, or by who cancels it.
        func take(_ id: String) -> URLSessionTask? { lock.withLock { tasks.removeValue(forKey: id) } }
    }
#endif

/// The bodies of calls that are on their way, a file each.
private struct BodyFiles: Sendable {
    let folder: URL

    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func write(_ body: Data, _ id: String) throws -> URL {
        let url = folder.appendingPathComponent(id)
        try body.write(to: url, options: .atomic)
        return url
    }

    func remove(_ id: String) {
        // A call without a body has no file, and one that is left over goes at the next launch.
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(id))
    }

    func removeAll(except ids: Set<String>) {
        // A folder that cannot be read is cleared another time.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where !ids.contains(name)
        {
            remove(name)
        }
    }
}

/// Gathers what a session says of each of its tasks.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    // Sendable is right although unchecked: a session calls its delegate on one queue, which does one thing at a time.
    private var received: [Int: Data] = [:]
    private let feed: AsyncStream<TransportEvent>.Continuation
    private let bodies: BodyFiles
    /// The registry's answers are short; more than this is something else.
    private static let mostBytes = 64 << 10

    init(_ feed: AsyncStream<TransportEvent>.Continuation, _ bodies: BodyFiles) {
        self.feed = feed
        self.bodies = bodies
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received[dataTask.taskIdentifier, default: Data()].append(data)
        if received[dataTask.taskIdentifier]?.count ?? 0 > Self.mostBytes { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        // Only calls without a body come here, and nothing in their answers matters but the status.
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let body = received.removeValue(forKey: task.taskIdentifier) ?? Data()
        guard let id = task.taskDescription else { return }
        bodies.remove(id)
        guard error == nil, let response = task.response as? HTTPURLResponse else {
            feed.yield(.failed(id: id, reason: error?.localizedDescription ?? "no answer"))
            return
        }
        let retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap(TimeInterval.init)
        feed.yield(
            .answered(
                id: id, TransportAnswer(status: response.statusCode, retryAfter: retryAfter, body: body)))
    }

    #if !canImport(FoundationNetworking)
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { feed.yield(.caughtUp) }
    #endif
}
