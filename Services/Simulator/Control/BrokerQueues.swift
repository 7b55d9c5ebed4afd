import Foundation
import HTTPClient
import Runtime

/// How much waits in the broker's queues, by stage, as the broker tells Prometheus: no password is needed for that.
final class BrokerQueues: Sendable {
    private static let timeout = Duration.seconds(2)
    private static let path = "/metrics/detailed?family=queue_coarse_metrics"

    struct Depth: Sendable, Encodable, Equatable {
        let stage: String
        /// In the queue, to be taken.
        var waiting = 0
        /// Taken and not acknowledged.
        var inHand = 0
    }

    private static let stages = ["inbound", "replies", "islands", "parked"]

    private let url: String?
    private let http: HTTPClient

    /// - Parameter url: Where the broker's figures for Prometheus are; `nil` if nobody is to be asked.
    init(url: String?, http: HTTPClient) {
        self.url = url
        self.http = http
    }

    /// The depths of all stages; `nil` if the broker does not tell.
    func depths() async -> [Depth]? {
        guard let url else { return nil }
        let request = HTTPClientRequest("GET", url + Self.path, headers: [], body: [])
        // A broker that is away has no depths to tell; the page says so.
        guard let response = try? await http.send(request, within: Self.timeout), response.status == 200 else {
            return nil
        }
        return Self.depths(in: String(decoding: response.body, as: UTF8.self))
    }

    /// Adds up lines such as `rabbitmq_detailed_queue_messages_ready{vhost="/",queue="inbound.v1.07"} 3`.
    static func depths(in text: String) -> [Depth] {
        var waiting: [Substring: Int] = [:]
        var inHand: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            guard let name = line.firstRange(of: "queue=\""), let last = line.split(separator: " ").last,
                let count = Int(last)
            else { continue }
            // "inbound.v1.07", "parked.v1.inbound".
            let stage = line[name.upperBound...].prefix { $0 != "." && $0 != "\"" }
            if line.hasPrefix("rabbitmq_detailed_queue_messages_ready{") { waiting[stage, default: 0] += count }
            if line.hasPrefix("rabbitmq_detailed_queue_messages_unacked{") { inHand[stage, default: 0] += count }
        }
        return stages.map {
            Depth(stage: $0, waiting: waiting[$0[...], default: 0], inHand: inHand[$0[...], default: 0])
        }
    }
}
