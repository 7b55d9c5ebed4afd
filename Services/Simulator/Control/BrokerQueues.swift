import Foundation
import HTTPClient
import Runtime

/// How much waits in the broker's queues, by stage, as its management API tells.
final class BrokerQueues: Sendable {
    private static let timeout = Duration.seconds(2)

    struct Depth: Sendable, Encodable, Equatable {
        let stage: String
        /// In the queue, to be taken.
        var waiting = 0
        /// Taken and not acknowledged.
        var inHand = 0
    }

    private struct Queue: Decodable {
        let name: String
        let messages_ready: Int?
        let messages_unacknowledged: Int?
    }

    private static let stages = ["inbound", "replies", "islands", "parked"]

    private let url: String?
    private let authorization: String
    private let http: HTTPClient

    /// - Parameter url: Of the management API, with name and password in it; `nil` if nobody is to be asked.
    init(url: Secret<String>?, http: HTTPClient) {
        var parts = url.flatMap { URLComponents(string: $0.reveal()) }
        let credentials = "\(parts?.user ?? ""):\(parts?.password ?? "")"
        authorization = "Basic " + Data(credentials.utf8).base64EncodedString()
        parts?.user = nil
        parts?.password = nil
        self.url = parts?.string
        self.http = http
    }

    /// The depths of all stages; `nil` if the broker does not tell.
    func depths() async -> [Depth]? {
        guard let url else { return nil }
        let request = HTTPClientRequest(
            "GET", url + "/api/queues?columns=name,messages_ready,messages_unacknowledged",
            headers: [("Authorization", authorization)], body: [])
        // A broker that is away has no depths to tell; the page says so.
        guard let response = try? await http.send(request, within: Self.timeout), response.status == 200,
            let queues = try? JSONDecoder().decode([Queue].self, from: Data(response.body))
        else { return nil }
        return Self.stages.map { stage in
            var depth = Depth(stage: stage)
            // "inbound.v1.07", "parked.v1.inbound".
            for queue in queues where queue.name.split(separator: ".").first.map(String.init) == stage {
                depth.waiting += queue.messages_ready ?? 0
                depth.inHand += queue.messages_unacknowledged ?? 0
            }
            return depth
        }
    }
}
