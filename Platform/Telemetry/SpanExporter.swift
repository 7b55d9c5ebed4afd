import Foundation
import HTTPClient
package import Runtime

/// Brings spans to an OpenTelemetry collector over OTLP/HTTP, in batches, from a task of its own.
///
/// Nobody waits for it: what comes while the buffer is full is dropped and counted, and so is what the collector refuses.
package final class SpanExporter: Sendable {
    /// Spans that wait at the most: what a collector misses while it restarts.
    private static let limit = 16_384
    private static let batch = 512
    private static let interval = Duration.milliseconds(500)
    private static let longestPause = Duration.seconds(30)
    private static let timeout = Duration.seconds(5)
    /// For what is left when the service ends.
    private static let lastTimeout = Duration.seconds(2)

    private let buffer: SpanBuffer
    private let collector: Collector
    private let log: Log
    private let running: Task<Void, Never>

    /// Starts to export; `nil` if no collector is set.
    package init?(_ settings: TelemetrySettings, log: Log, metrics: Metrics) {
        guard let collector = Collector(settings, log: log) else { return nil }
        let buffer = SpanBuffer(limit: Self.limit, metrics: metrics)
        self.buffer = buffer
        self.collector = collector
        self.log = log
        tracer = Tracer(sink: buffer, sampler: settings.sampler)
        // Ended by `close()`, which waits for it.
        running = Task { await Self.run(buffer, collector, log) }
    }

    package let tracer: Tracer

    /// Exports what is left, as far as the collector takes it within a moment, and ends.
    package func close() async {
        running.cancel()
        await running.value
        let deadline = monotonicSeconds() + Self.lastTimeout.seconds
        while let spans = buffer.first(Self.batch) {
            let left = deadline - monotonicSeconds()
            guard left > 0, case .taken = await collector.send(spans, within: .milliseconds(Int(left * 1000))) else {
                break
            }
            buffer.removeFirst(spans.count, isExported: true)
        }
        buffer.close()
        await collector.close()
    }

    private static func run(_ buffer: SpanBuffer, _ collector: Collector, _ log: Log) async {
        var failures = 0
        while true {
            let pause = min(longestPause, interval * (1 << min(failures, 6)))
            do { try await Task.sleep(for: pause) } catch { return }
            while let spans = buffer.first(batch) {
                switch await collector.send(spans, within: timeout) {
                case .taken:
                    if failures > 0 { log.info("collector takes spans again") }
                    failures = 0
                    buffer.removeFirst(spans.count, isExported: true)
                    continue
                case .refused(let why):
                    log.warning("collector refuses spans, they are dropped", ["answer": why])
                    buffer.removeFirst(spans.count, isExported: false)
                case .later(let why):
                    guard !Task.isCancelled else { return }
                    if failures == 0 { log.warning("collector cannot be reached, spans wait", ["error": why]) }
                    failures += 1
                }
                break
            }
        }
    }
}

/// The spans that wait to be exported.
private final class SpanBuffer: SpanSink {
    private struct Contents {
        var spans = FIFO<FinishedSpan>()
        var isClosed = false
    }

    private let limit: Int
    private let contents = Locked(Contents())
    private let exported, dropped: Counter

    init(limit: Int, metrics: Metrics) {
        self.limit = limit
        exported = metrics.counter("isthmus_trace_spans_exported_total", "Spans that the collector took.")
        dropped = metrics.counter("isthmus_trace_spans_dropped_total", "Spans that the collector did not get.")
    }

    func record(_ span: FinishedSpan) {
        let isTaken = contents.withLock { contents in
            guard !contents.isClosed, contents.spans.count < limit else { return false }
            contents.spans.append(span)
            return true
        }
        if !isTaken { dropped.increment() }
    }

    /// The oldest spans, `count` at the most; `nil` if there is none.
    func first(_ count: Int) -> [FinishedSpan]? {
        contents.withLock { $0.spans.isEmpty ? nil : $0.spans.prefix(count) }
    }

    func removeFirst(_ count: Int, isExported: Bool) {
        contents.withLock { contents in for _ in 0..<count { _ = contents.spans.popFirst() } }
        (isExported ? exported : dropped).increment(by: count)
    }

    /// What is left is lost.
    func close() {
        let left = contents.withLock { contents in
            contents.isClosed = true
            return contents.spans.removeAll().count
        }
        dropped.increment(by: left)
    }
}

/// The other side.
private struct Collector {
    enum Answer {
        case taken
        /// The same spans would be refused again.
        case refused(String)
        case later(String)
    }

    private let url: String
    private let headers: Secret<[(name: String, value: String)]>
    private let client: HTTPClient
    private let encoding: OTLPTraces

    init?(_ settings: TelemetrySettings, log: Log) {
        guard let endpoint = settings.endpoint else { return nil }
        url = endpoint + "/v1/traces"
        headers = settings.headers
        client = HTTPClient(
            maxConnectionsPerHost: 1, maxBody: 64 << 10, caFile: settings.caFile, userAgent: "isthmus", log: log)
        let process = ProcessInfo.processInfo
        let instance = "\(process.hostName).\(process.processIdentifier)"
        encoding = OTLPTraces(
            resource: settings.resource.merging(["service.instance.id": instance]) { given, _ in given })
    }

    func send(_ spans: [FinishedSpan], within limit: Duration) async -> Answer {
        let request = HTTPClientRequest(
            "POST", url, headers: [("Content-Type", "application/json")] + headers.reveal(),
            body: encoding.encode(spans))
        do {
            let status = try await client.send(request, within: limit).status
            switch status {
            case 200..<300: return .taken
            // The ones that OTLP says are worth another try.
            case 429, 502, 503, 504: return .later("\(status)")
            default: return .refused("\(status)")
            }
        } catch {
            return .later("\(error)")
        }
    }

    func close() async { await client.close() }
}
