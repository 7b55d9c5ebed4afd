import Foundation
import HTTPClient
import Runtime

/// The sender's transport alone: the same requests over its HTTP/1.1 client, as many at once as the sender's.
enum BareReplies {
    static func run(_ options: [String: String]) async throws -> any Encodable {
        let count = try options.number("count")
        let atOnce = try options.number("at-once", default: 64)
        let body = [UInt8](try Data(contentsOf: URL(filePath: try options.text("body-file"))))
        let request = HTTPClientRequest("POST", try options.text("url"), headers: headers, body: body)
        let client = HTTPClient(
            maxConnectionsPerHost: atOnce, userAgent: "isthmus", log: Log(service: "load", level: .warning))
        // The connections are not part of what is measured.
        try await post(request, atOnce, over: client, atOnce: atOnce)
        let start = monotonicSeconds()
        try await post(request, count, over: client, atOnce: atOnce)
        let seconds = monotonicSeconds() - start
        await client.close()
        return Rate(count, in: seconds)
    }

    private static func post(
        _ request: HTTPClientRequest, _ count: Int, over client: HTTPClient, atOnce: Int
    ) async throws {
        let left = Locked(count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<atOnce {
                group.addTask {
                    while left.withLock({ left in
                        left -= 1
                        return left >= 0
                    }) {
                        let status = try await client.send(request, within: .seconds(30)).status
                        guard (200..<300).contains(status) else {
                            throw Failure(description: "answered with \(status)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static let headers = [
        (name: "Authorization", value: "Bearer 0123456789012345678901234567890123456789"),
        (name: "Content-Type", value: "application/json"),
        (name: "Idempotency-Key", value: "00000000-0000-4000-8000-000000000000"),
    ]
}
