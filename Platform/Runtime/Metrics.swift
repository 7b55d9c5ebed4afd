import Synchronization

/// The figures of one process, in Prometheus' text format.
///
/// Asking twice for the same name and labels gives the same instrument. Names start with `isthmus_`.
package final class Metrics: Sendable {
    package typealias Labels = [String: String]

    private enum Kind: String { case counter, gauge, histogram }

    private enum Instrument {
        case counter(Counter)
        case gauge(Gauge)
        case reading(@Sendable () -> Double)
        case histogram(Histogram)
    }

    private struct Family {
        let kind: Kind
        let help: String
        var instruments: [String: Instrument] = [:]
    }

    private let families = Locked<[String: Family]>([:])

    package init() {}

    /// A figure that only grows.
    package func counter(_ name: String, _ help: String, _ labels: Labels = [:]) -> Counter {
        instrument(name, help, .counter, labels, new: { .counter(Counter()) }) { found in
            if case .counter(let counter) = found { counter } else { nil }
        }
    }

    /// A figure that goes up and down.
    package func gauge(_ name: String, _ help: String, _ labels: Labels = [:]) -> Gauge {
        instrument(name, help, .gauge, labels, new: { .gauge(Gauge()) }) { found in
            if case .gauge(let gauge) = found { gauge } else { nil }
        }
    }

    /// A gauge that is read when somebody asks for the metrics.
    ///
    /// `read` must not wait.
    package func gauge(_ name: String, _ help: String, _ labels: Labels = [:], read: @escaping @Sendable () -> Double) {
        families.withLock { families in
            families[name, default: Family(kind: .gauge, help: help)].instruments[Self.text(labels)] = .reading(read)
        }
    }

    /// A distribution, in seconds unless the name says otherwise.
    package func histogram(
        _ name: String, _ help: String, _ labels: Labels = [:], buckets: [Double] = Histogram.latencies
    ) -> Histogram {
        instrument(name, help, .histogram, labels, new: { .histogram(Histogram(buckets: buckets)) }) { found in
            if case .histogram(let histogram) = found { histogram } else { nil }
        }
    }

    private func instrument<Found: Sendable>(
        _ name: String, _ help: String, _ kind: Kind, _ labels: Labels, new: () -> Instrument,
        pick: (Instrument) -> Found?
    ) -> Found {
        families.withLock { families in
            let key = Self.text(labels)
            let instrument = families[name]?.instruments[key] ?? new()
            families[name, default: Family(kind: kind, help: help)].instruments[key] = instrument
            guard let found = pick(instrument) else {
                preconditionFailure("the metric \(name) was first made as another kind of instrument")
            }
            return found
        }
    }

    /// The text that `/metrics` answers with.
    package func render() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, instrument) in family.instruments.sorted(by: { $0.key < $1.key }) {
                switch instrument {
                case .counter(let counter): text += "\(name)\(Self.braces(labels)) \(counter.value)\n"
                case .gauge(let gauge): text += "\(name)\(Self.braces(labels)) \(gauge.value)\n"
                case .reading(let read): text += "\(name)\(Self.braces(labels)) \(read())\n"
                case .histogram(let histogram): text += histogram.render(name, labels)
                }
            }
        }
        return text
    }

    static func braces(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    private static func text(_ labels: Labels) -> String {
        labels.sorted { $0.key < $1.key }.map { "\($0.key)=\(Log.quoted($0.value))" }.joined(separator: ",")
    }
}

/// A figure that only grows.
package final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package func increment(by amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    package var value: Int { count.load(ordering: .relaxed) }
}

/// A figure that goes up and down.
package final class Gauge: Sendable {
    private let current = Atomic<Int>(0)

    package init() {}

    package func set(_ value: Int) { current.store(value, ordering: .relaxed) }

    package func add(_ amount: Int) { current.wrappingAdd(amount, ordering: .relaxed) }

    package var value: Int { current.load(ordering: .relaxed) }
}

/// Counts of observations by upper bound.
package final class Histogram: Sendable {
    /// From a millisecond to ten minutes, in seconds.
    package static let latencies: [Double] = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 600,
    ]

    private struct State {
        var counts: [Int]
        var sum = 0.0
    }

    private let buckets: [Double]
    private let state: Locked<State>

    init(buckets: [Double]) {
        self.buckets = buckets
        state = Locked(State(counts: Array(repeating: 0, count: buckets.count + 1)))
    }

    package func observe(_ value: Double) {
        let index = buckets.firstIndex { value <= $0 } ?? buckets.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    /// How many observations there were.
    package var count: Int { state.withLock { $0.counts.reduce(0, +) } }

    func render(_ name: String, _ labels: String) -> String {
        let state = state.withLock { $0 }
        let prefix = labels.isEmpty ? "" : labels + ","
        var text = ""
        var total = 0
        for (bound, count) in zip(buckets.map { "\($0)" } + ["+Inf"], state.counts) {
            total += count
            text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(total)\n"
        }
        text += "\(name)_sum\(Metrics.braces(labels)) \(state.sum)\n"
        return text + "\(name)_count\(Metrics.braces(labels)) \(total)\n"
    }
}
