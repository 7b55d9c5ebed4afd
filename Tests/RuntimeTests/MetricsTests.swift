import Runtime
import Testing

@Suite struct `Metrics as text` {
    @Test func `counters, gauges and histograms are written in Prometheus' text format`() {
        let metrics = Metrics()
        metrics.counter("isthmus_a_total", "Help a.", ["stage": "in\"1"]).increment(by: 3)
        metrics.gauge("isthmus_b", "Help b.").set(-2)
        metrics.gauge("isthmus_c", "Help c.") { 1.5 }
        let histogram = metrics.histogram("isthmus_d_seconds", "Help d.", buckets: [0.1, 1])
        for value in [0.05, 0.5, 7] { histogram.observe(value) }
        #expect(
            metrics.render() == """
                # HELP isthmus_a_total Help a.
                # TYPE isthmus_a_total counter
                isthmus_a_total{stage="in\\"1"} 3
                # HELP isthmus_b Help b.
                # TYPE isthmus_b gauge
                isthmus_b -2
                # HELP isthmus_c Help c.
                # TYPE isthmus_c gauge
                isthmus_c 1.5
                # HELP isthmus_d_seconds Help d.
                # TYPE isthmus_d_seconds histogram
                isthmus_d_seconds_bucket{le="0.1"} 1
                isthmus_d_seconds_bucket{le="1.0"} 2
                isthmus_d_seconds_bucket{le="+Inf"} 3
                isthmus_d_seconds_sum 7.55
                isthmus_d_seconds_count 3

                """)
    }

    @Test func `the same name and labels are the same instrument`() {
        let metrics = Metrics()
        metrics.counter("x_total", "X.", ["a": "1", "b": "2"]).increment()
        metrics.counter("x_total", "X.", ["b": "2", "a": "1"]).increment()
        #expect(metrics.counter("x_total", "X.", ["a": "1", "b": "2"]).value == 2)
    }

    @Test func `counting from many tasks loses nothing`() async {
        let metrics = Metrics()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { for _ in 0..<200 { metrics.counter("y_total", "Y.").increment() } }
            }
        }
        #expect(metrics.counter("y_total", "Y.").value == 10_000)
    }
}
