/// Where finished spans go; it must not wait.
package protocol SpanSink: Sendable {
    func record(_ span: FinishedSpan)
}

/// Makes spans of a service's work; a service that exports none has no tracer.
package struct Tracer: Sendable {
    let sink: any SpanSink
    let sampler: TraceSampler

    package init(sink: any SpanSink, sampler: TraceSampler = .parentBased(ratio: 1)) {
        self.sink = sink
        self.sampler = sampler
    }
}

/// Which traces are recorded.
package struct TraceSampler: Sendable, Equatable {
    /// Whether a trace that came from outside is recorded as its sender has it.
    let followsParent: Bool
    /// Which part of the others is recorded, from 0 to 1.
    let ratio: Double

    package static func parentBased(ratio: Double) -> TraceSampler { TraceSampler(followsParent: true, ratio: ratio) }

    package static func always(ratio: Double) -> TraceSampler { TraceSampler(followsParent: false, ratio: ratio) }

    func samples(_ context: TraceContext, hasParent: Bool) -> Bool {
        if hasParent && followsParent { return context.isSampled }
        return Double(context.randomness) < ratio * 0x1p64
    }
}

/// The trace that the work at hand belongs to: what it causes carries it on, and its log lines name it.
package struct Trace: Sendable {
    /// The trace of the running task; child tasks have it, too.
    @TaskLocal package static var current: Trace?

    package let context: TraceContext
    private let tracer: Tracer?
    /// The context is not a span's yet: the next one has no parent.
    private let isFresh: Bool

    fileprivate init(_ context: TraceContext, _ tracer: Tracer?, isFresh: Bool) {
        self.context = context
        self.tracer = tracer
        self.isFresh = isFresh
    }

    /// Begins a trace with the id `traceID`, if it is one, or a new id.
    package static func begin(traceID: String? = nil, tracer: Tracer?) -> Trace {
        let context = TraceContext(traceID: traceID)
        let isSampled = tracer?.sampler.samples(context, hasParent: false) ?? true
        return Trace(context.sampled(isSampled), tracer, isFresh: true)
    }

    /// Goes on with the trace of a message; without one begins another, if there is a tracer to record it.
    package static func resume(_ traceparent: String?, state: String? = nil, tracer: Tracer?) -> Trace? {
        guard let context = traceparent.flatMap({ TraceContext($0, state: state) }) else {
            return tracer.map { .begin(tracer: $0) }
        }
        let isSampled = tracer?.sampler.samples(context, hasParent: true) ?? context.isSampled
        return Trace(context.sampled(isSampled), tracer, isFresh: false)
    }

    /// Goes on with another trace than the running task's, for work of that one which it does on the way.
    package static func resumeInside(_ traceparent: String?, state: String?) -> Trace? {
        resume(traceparent, state: state, tracer: current?.tracer)
    }

    /// Begins a span; `nil` if the trace is not recorded.
    ///
    /// - Parameters:
    ///   - attributes: No handle, token or text of a user may be in them.
    ///   - start: When it began, if not now.
    package func span(
        _ name: @autoclosure () -> String, _ kind: FinishedSpan.Kind,
        _ attributes: @autoclosure () -> [String: SpanValue], start: SpanTime? = nil
    ) -> Span? {
        guard let tracer, context.isSampled else { return nil }
        return Span(
            FinishedSpan(
                context: context.newSpan(), parentID: isFresh ? nil : context.spanID, name: name(), kind: kind,
                start: start ?? .now, attributes: attributes()), tracer)
    }
}

/// A span that has begun.
///
/// Whoever begins one ends it, once.
package struct Span: Sendable {
    private let begun: FinishedSpan
    private let tracer: Tracer

    fileprivate init(_ begun: FinishedSpan, _ tracer: Tracer) {
        self.begun = begun
        self.tracer = tracer
    }

    package var context: TraceContext { begun.context }

    /// What the work under this span belongs to.
    package var trace: Trace { Trace(begun.context, tracer, isFresh: false) }

    /// Ends the span.
    ///
    /// - Parameter error: `error.type` if what it stands for has failed: a word out of few, with nothing of a user in it.
    package func end(_ attributes: [String: SpanValue] = [:], error: String? = nil) {
        var span = begun
        span.end = max(.now, span.start)
        span.attributes.merge(attributes) { $1 }
        span.error = error
        tracer.sink.record(span)
    }
}

/// What is exported of a span.
package struct FinishedSpan: Sendable {
    /// The numbers are OTLP's.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case server, client, producer, consumer
    }

    package let context: TraceContext
    package let parentID: String?
    package let name: String
    package let kind: Kind
    package let start: SpanTime
    package fileprivate(set) var end = SpanTime(nanoseconds: 0)
    package fileprivate(set) var attributes: [String: SpanValue]
    package fileprivate(set) var error: String?
}

/// The value of an attribute.
package enum SpanValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    case text(String)
    case integer(Int)

    package init(stringLiteral value: String) { self = .text(value) }
}

/// A moment on the clock that all services share, as far as their machines agree.
package struct SpanTime: Sendable, Comparable {
    /// Since 1970.
    package let nanoseconds: Int64

    package static var now: SpanTime { SpanTime(nanoseconds: wallNanoseconds()) }

    package static func < (left: SpanTime, right: SpanTime) -> Bool { left.nanoseconds < right.nanoseconds }
}
