import Runtime

/// The figures of a run: what came in, what came out, what was lost or doubled.
struct Counts: Encodable {
    let webhooks: WebhookSender.Figures
    let linq: LinqBook.Figures
    let apns: APNSEnd.Figures
    let phones: Phones.Figures
    /// From a text to its reply, in seconds.
    let replySeconds: Percentiles
    let users: Int
    let phoneCount: Int
    /// Phones whose Island shows something.
    let islands: Int

    struct Percentiles: Encodable {
        let count: Int
        let p50: Double
        let p90: Double
        let p99: Double
        let longest: Double

        init(_ values: [Double]) {
            let sorted = values.sorted()
            count = sorted.count
            func at(_ share: Double) -> Double {
                sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
            }
            (p50, p90, p99, longest) = (at(0.5), at(0.9), at(0.99), sorted.last ?? 0)
        }
    }

    init(_ world: World) {
        webhooks = world.linq.webhooks.figures
        let (figures, latencies) = world.linq.book.withLock { ($0.summary, $0.latencies) }
        linq = figures
        replySeconds = Percentiles(latencies)
        apns = world.apns.figures
        phones = world.phones.figures
        (users, phoneCount, islands) = world.phones.census
    }
}
