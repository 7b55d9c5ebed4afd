import Crypto
import Foundation
import Glibc
import Runtime

/// Posts signed webhooks over kept connections: from a queue of work as fast as each is answered, or each at its time.
///
/// Users are dealt to connections, so that each user's texts go out in order. At a rate, a text's latency counts from
/// the moment it was due, so that a server that stalls is not spared the wait of those behind.
final class WebhookLoad {
    struct Figures: Encodable {
        let texts: Int
        let seconds: Double
        let rate: Double
        /// From due to answered, in milliseconds.
        let p50, p99, longest: Double
        /// Answers by status.
        let statuses: [String: Int]
    }

    private let texts: InboundTexts
    private let rate: Double?
    private let count: Int
    private var requests: [[UInt8]] = []
    private var connections: [WebhookConnection] = []
    /// Microseconds, by the number of the text.
    private var latencies: [UInt32]
    /// When each text went out, UNIX microseconds.
    private var sentAt: [Int64]
    private var statuses: [Int: Int] = [:]
    private var answered = 0

    static func run(_ options: [String: String]) async throws -> any Encodable {
        let load = try WebhookLoad(options)
        let figures = try load.run(connections: try options.number("connections", default: 64), options)
        if let file = options["sent-at"] {
            let lines = load.sentAt.map { "\($0)\n" }.joined()
            try lines.write(toFile: file, atomically: false, encoding: .utf8)
        }
        return figures
    }

    private init(_ options: [String: String]) throws {
        texts = InboundTexts(
            secret: try String(contentsOfFile: try options.text("secret-file"), encoding: .utf8),
            users: try options.number("users"), firstUser: try options.number("first-user", default: 0),
            target: try options.text("url"))
        count = try options.number("count")
        rate = options["rate"].flatMap(Double.init)
        latencies = [UInt32](repeating: 0, count: count)
        sentAt = [Int64](repeating: 0, count: count)
    }

    private func run(connections wanted: Int, _ options: [String: String]) throws -> Figures {
        guard let url = URLComponents(string: try options.text("url")), let port = url.port else {
            throw Failure(description: "--url: expected http://127.0.0.1:port/path")
        }
        let lanes = min(wanted, texts.users)
        for _ in 0..<lanes {
            connections.append(try WebhookConnection(port: UInt16(port)))
        }
        // Signed beforehand: what is measured is the server.
        requests = (0..<count).map(texts.request)
        let start = monotonicSeconds()
        var next = Array(0..<lanes)
        var polled = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        for lane in 0..<lanes { try sendIfDue(lane, &next, start) }
        while answered < count {
            poll(&polled, nfds_t(lanes), rate == nil ? 1000 : 1)
            for lane in 0..<lanes where polled[lane].revents != 0 {
                guard let status = try connections[lane].readAnswer() else { continue }
                note(status, of: next[lane], start)
                next[lane] += lanes
                try sendIfDue(lane, &next, start)
            }
            if rate != nil { for lane in 0..<lanes { try sendIfDue(lane, &next, start) } }
        }
        return figures(monotonicSeconds() - start)
    }

    /// When text `number` is due, seconds after the start.
    private func due(_ number: Int) -> Double { rate.map { Double(number) / $0 } ?? 0 }

    private func sendIfDue(_ lane: Int, _ next: inout [Int], _ start: Double) throws {
        let number = next[lane]
        guard number < count, !connections[lane].isBusy, monotonicSeconds() - start >= due(number) else { return }
        sentAt[number] = Int64(Date().timeIntervalSince1970 * 1_000_000)
        if rate == nil { latencies[number] = UInt32((monotonicSeconds() - start) * 1_000_000) }
        try connections[lane].send(requests[number])
    }

    private func note(_ status: Int, of number: Int, _ start: Double) {
        statuses[status, default: 0] += 1
        answered += 1
        let now = (monotonicSeconds() - start) * 1_000_000
        // Without a rate, a text was due when it went out.
        latencies[number] = UInt32(max(0, now - (rate == nil ? Double(latencies[number]) : due(number) * 1_000_000)))
    }

    private func figures(_ seconds: Double) -> Figures {
        let sorted = latencies.sorted()
        func share(_ share: Double) -> Double { Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1000 }
        return Figures(
            texts: count, seconds: seconds, rate: Double(count) / seconds, p50: share(0.5), p99: share(0.99),
            longest: share(1), statuses: Dictionary(uniqueKeysWithValues: statuses.map { ("\($0)", $1) }))
    }
}
