import Foundation
import HTTPServer
import Runtime
import TestSupport
import Testing

@testable import Telemetry

@Suite struct `Span exporter` {
    /// A collector that answers with a status of the test's choice and keeps the names of the spans that it took.
    private final class Collector: Sendable {
        private struct Request: Decodable {
            struct Resource: Decodable { let scopeSpans: [Scope] }
            struct Scope: Decodable { let spans: [Span] }
            struct Span: Decodable { let name: String }
            let resourceSpans: [Resource]
        }

        let status = Locked(200)
        let taken = Locked<[String]>([])
        let requests = Locked(0)
        let headers = Locked<[String: String]>([:])
        private let server: HTTPServer

        init() throws {
            let (status, taken, requests, headers) = (status, taken, requests, headers)
            server = try HTTPServer(
                listen: ListenAddress(host: "127.0.0.1", port: 0), name: "collector",
                log: Log(service: "collector", level: .error), metrics: Metrics()
            ) { request, responder in
                requests.withLock { $0 += 1 }
                headers.withLock { headers in
                    for name in ["content-type", "api-key"] { headers[name] = request.header(name) }
                }
                let answer = request.path == "/v1/traces" ? status.withLock { $0 } : 404
                let names = (try? JSONDecoder().decode(Request.self, from: Data(request.body)))?.resourceSpans
                    .flatMap(\.scopeSpans).flatMap(\.spans).map(\.name)
                guard let names else { return responder.respond(.text(400, "not OTLP")) }
                if answer == 200 { taken.withLock { $0 += names } }
                responder.respond(.json(answer, Array("{}".utf8)))
            }
        }

        var url: String { "http://127.0.0.1:\(server.port)" }

        func close() { server.close() }
    }

    private func exporter(_ url: String, _ metrics: Metrics, headers: String = "") throws -> SpanExporter {
        var reader = Settings(["OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_HEADERS": headers])
        let settings = reader.telemetry(service: "test")
        try reader.finish()
        return try #require(SpanExporter(settings, log: Log(service: "test", level: .error), metrics: metrics))
    }

    private func make(_ count: Int, _ exporter: SpanExporter) {
        let trace = Trace.begin(tracer: exporter.tracer)
        for index in 0..<count { trace.span("span \(index)", .internal, ["quoted": "a\"b\n"])?.end() }
    }

    private func figure(_ name: String, _ metrics: Metrics) -> Int {
        metrics.counter("isthmus_trace_spans_\(name)_total", "").value
    }

    @Test func `without a collector there is no exporter, and so no tracer`() {
        var reader = Settings([:])
        let metrics = Metrics()
        #expect(
            SpanExporter(reader.telemetry(service: "test"), log: Log(service: "test"), metrics: metrics) == nil)
        #expect(metrics.render().isEmpty)
    }

    @Test(.timeLimit(.minutes(3))) func `spans reach the collector in their order, with its headers`() async throws {
        let collector = try Collector()
        defer { collector.close() }
        let metrics = Metrics()
        let exporter = try exporter(collector.url, metrics, headers: "api-key=secret")
        make(1500, exporter)
        try await eventually("all were taken") { collector.taken.withLock { $0.count } == 1500 }
        #expect(collector.taken.withLock { $0 } == (0..<1500).map { "span \($0)" })
        #expect(collector.requests.withLock { $0 } == 3)
        #expect(collector.headers.withLock { $0 } == ["content-type": "application/json", "api-key": "secret"])
        await exporter.close()
        #expect(figure("exported", metrics) == 1500)
        #expect(figure("dropped", metrics) == 0)
    }

    @Test(.timeLimit(.minutes(3))) func `what was made last goes out when the service ends`() async throws {
        let collector = try Collector()
        defer { collector.close() }
        let metrics = Metrics()
        let exporter = try exporter(collector.url, metrics)
        make(3, exporter)
        await exporter.close()
        #expect(collector.taken.withLock { $0.count } == 3)
        make(2, exporter)
        #expect(figure("exported", metrics) == 3)
        #expect(figure("dropped", metrics) == 2)
    }

    @Test(.timeLimit(.minutes(3))) func `spans wait for a collector that is busy`() async throws {
        let collector = try Collector()
        defer { collector.close() }
        collector.status.withLock { $0 = 503 }
        let metrics = Metrics()
        let exporter = try exporter(collector.url, metrics)
        make(10, exporter)
        try await eventually("it was tried again") { collector.requests.withLock { $0 } >= 2 }
        collector.status.withLock { $0 = 200 }
        try await eventually("all were taken") { collector.taken.withLock { $0.count } == 10 }
        await exporter.close()
        #expect(figure("exported", metrics) == 10)
        #expect(figure("dropped", metrics) == 0)
    }

    @Test(.timeLimit(.minutes(3))) func `what a collector refuses is dropped and counted`() async throws {
        let collector = try Collector()
        defer { collector.close() }
        collector.status.withLock { $0 = 400 }
        let metrics = Metrics()
        let exporter = try exporter(collector.url, metrics)
        make(10, exporter)
        try await eventually("they are dropped") { figure("dropped", metrics) == 10 }
        await exporter.close()
        #expect(figure("exported", metrics) == 0)
    }

    @Test(.timeLimit(.minutes(3))) func `without an answer the buffer stays bounded and what is lost is counted`()
        async throws
    {
        let metrics = Metrics()
        // Nobody listens on port 1.
        let exporter = try exporter("http://127.0.0.1:1", metrics)
        make(20_000, exporter)
        #expect(figure("dropped", metrics) == 20_000 - 16_384)
        await exporter.close()
        #expect(figure("dropped", metrics) == 20_000)
        #expect(figure("exported", metrics) == 0)
    }
}
