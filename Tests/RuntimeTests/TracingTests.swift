import Foundation
import Runtime
import Testing

@Suite struct `Trace context` {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test func `a header is read and written as it was`() throws {
        for flags in ["00", "01"] {
            let text = "00-\(Self.trace)-00f067aa0ba902b7-\(flags)"
            let context = try #require(TraceContext(text))
            #expect(context.traceparent == text)
            #expect(context.traceID == Self.trace)
            #expect(context.spanID == "00f067aa0ba902b7")
            #expect(context.isSampled == (flags == "01"))
        }
    }

    @Test func `a later version is read by what version 00 has`() {
        #expect(TraceContext("01-\(Self.trace)-00f067aa0ba902b7-01-more")?.traceID == Self.trace)
        #expect(TraceContext("01-\(Self.trace)-00f067aa0ba902b7-01")?.traceID == Self.trace)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-00f067aa0ba902b7", "00-\(trace)-00f067aa0ba902b7-01-more",
        "01-\(trace)-00f067aa0ba902b7-01more", "ff-\(trace)-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(trace.uppercased())-00f067aa0ba902b7-01",
        "00-\(trace)_00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-0g", "0-\(trace)0-00f067aa0ba902b7-01",
    ])
    func `what is no header is none`(_ text: String) { #expect(TraceContext(text) == nil) }

    @Test func `what others say of a trace is carried on as it came, if a header may have it`() throws {
        let header = "00-\(Self.trace)-00f067aa0ba902b7-01"
        let context = try #require(TraceContext(header, state: "one=1,two=a b"))
        #expect(context.state == "one=1,two=a b")
        let trace = try #require(Trace.resume(header, state: context.state, tracer: nil))
        #expect(trace.context == context)
        for bad in ["", "one=1\r\nX: y", "one=ü", String(repeating: "a", count: 513)] {
            let told = try #require(TraceContext(header, state: bad))
            #expect(told.state == nil && told.traceparent == header)
        }
        #expect(TraceContext(header, state: String(repeating: "a", count: 512))?.state != nil)
    }

    @Test func `Linq's trace is continued, and another is begun where its id is none`() {
        #expect(TraceContext(traceID: Self.trace).traceID == Self.trace)
        #expect(TraceContext(traceID: Self.trace.uppercased()).traceID == Self.trace)
        for bad in [nil, "abc123def456", String(repeating: "0", count: 32), String(repeating: "g", count: 32)] {
            let made = TraceContext(traceID: bad)
            #expect(TraceContext(made.traceparent) == made)
            #expect(made.traceID != bad)
        }
    }
}

@Suite struct `Spans` {
    private final class Sink: SpanSink {
        private let all = Locked<[FinishedSpan]>([])

        func record(_ span: FinishedSpan) { all.withLock { $0.append(span) } }

        var spans: [FinishedSpan] { all.withLock { $0 } }
    }

    @Test func `a span's children name it as their parent, and the first one has none`() throws {
        let sink = Sink()
        let trace = Trace.begin(tracer: Tracer(sink: sink))
        let outer = try #require(trace.span("outer", .server, ["a": "b"]))
        let inner = try #require(outer.trace.span("inner", .producer, [:]))
        inner.end(["n": .integer(2)], error: "refused")
        outer.end()
        #expect(sink.spans.map(\.name) == ["inner", "outer"])
        #expect(sink.spans.map(\.parentID) == [outer.context.spanID, nil])
        #expect(Set(sink.spans.map(\.context.traceID)) == [trace.context.traceID])
        #expect(sink.spans[0].attributes == ["n": .integer(2)] && sink.spans[0].error == "refused")
        #expect(sink.spans.allSatisfy { $0.start <= $0.end })
    }

    @Test func `what comes from outside keeps its parent and whether it is recorded`() {
        let sink = Sink()
        let tracer = Tracer(sink: sink)
        let sampled = TraceContext()
        Trace.resume(sampled.traceparent, tracer: tracer)?.span("x", .consumer, [:])?.end()
        #expect(sink.spans.map(\.parentID) == [sampled.spanID])
        let told = Trace.resume(sampled.traceparent, state: "one=1", tracer: tracer)
        #expect(told?.span("x", .consumer, [:])?.context.state == "one=1")
        let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let trace = Trace.resume(unsampled, tracer: tracer)
        #expect(trace?.context.traceparent == unsampled)
        #expect(trace?.span("x", .consumer, [:]) == nil)
    }

    @Test func `without a tracer a context is carried on and nothing is made of it`() {
        let context = TraceContext()
        #expect(Trace.resume(context.traceparent, tracer: nil)?.context == context)
        #expect(Trace.resume(context.traceparent, tracer: nil)?.span("x", .consumer, [:]) == nil)
        #expect(Trace.resume(nil, tracer: nil) == nil)
    }

    @Test func `work of another trace is recorded by the same tracer`() {
        let sink = Sink()
        let other = TraceContext()
        Trace.$current.withValue(.begin(tracer: Tracer(sink: sink))) {
            Trace.resumeInside(other.traceparent, state: nil)?.span("x", .consumer, [:])?.end()
        }
        #expect(sink.spans.map(\.context.traceID) == [other.traceID])
        #expect(sink.spans.map(\.parentID) == [other.spanID])
        #expect(Trace.resumeInside(other.traceparent, state: nil)?.context == other)
    }

    @Test func `a ratio records that part of the traces, and every service the same ones`() {
        let sink = Sink()
        let ids = (0..<2000).map { _ in TraceContext().traceID }
        func sampled(_ ratio: Double) -> [Bool] {
            let tracer = Tracer(sink: sink, sampler: .parentBased(ratio: ratio))
            return ids.map { Trace.begin(traceID: $0, tracer: tracer).context.isSampled }
        }
        #expect(!sampled(0).contains(true))
        #expect(!sampled(1).contains(false))
        let tenth = sampled(0.1)
        #expect(tenth == sampled(0.1))
        // Ten standard deviations around 200.
        #expect((66...334).contains(tenth.count { $0 }))
    }

    @Test func `log lines name the trace of the task`() throws {
        let lines = Locked<[String]>([])
        let log = Log(service: "test") { line in lines.withLock { $0.append(line) } }
        let trace = Trace.begin(tracer: nil)
        Trace.$current.withValue(trace) { log.info("inside") }
        log.info("outside")
        let ids = try lines.withLock { $0 }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])["trace_id"]
        }
        #expect(ids == [trace.context.traceID, nil])
    }
}
