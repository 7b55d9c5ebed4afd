import Foundation
import HTTP2
import Runtime

/// The pusher's transport alone: the same requests over its HTTP/2 client, on one connection.
enum BarePushes {
    static func run(_ options: [String: String]) async throws -> any Encodable {
        guard let url = URLComponents(string: try options.text("url")), let host = url.host, let port = url.port else {
            throw Failure(description: "--url: expected https://host:port")
        }
        let count = try options.number("count")
        let body = [UInt8](try Data(contentsOf: URL(filePath: try options.text("body-file"))))
        var settings = HTTP2ClientOptions()
        settings.maxQueued = count + 1
        let client = try HTTP2Client(
            host: host, port: UInt16(port), caFile: try options.text("ca-file"), options: settings, name: "load",
            log: Log(service: "load", level: .warning), metrics: Metrics())
        let request = HTTP2Request(method: "POST", path: url.path, headers: headers, body: body)
        // The connection is not part of what is measured.
        _ = try await client.send(request, within: .seconds(10))
        let failed = Locked(0)
        let start = monotonicSeconds()
        await withCheckedContinuation { continuation in
            let left = Locked(count)
            for _ in 0..<count {
                client.send(request, within: .seconds(120)) { result in
                    if case .failure = result { failed.withLock { $0 += 1 } }
                    let isLast = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        let seconds = monotonicSeconds() - start
        await client.close()
        guard failed.withLock({ $0 }) == 0 else { throw Failure(description: "\(failed) pushes failed") }
        return Rate(count, in: seconds)
    }

    private static let headers = [
        (name: "authorization", value: "bearer " + String(repeating: "e", count: 180)),
        (name: "apns-push-type", value: "liveactivity"),
        (name: "apns-topic", value: "com.example.isthmus.push-type.liveactivity"),
        (name: "apns-priority", value: "10"), (name: "apns-expiration", value: "1800000000"),
        (name: "content-type", value: "application/json"),
    ]
}
