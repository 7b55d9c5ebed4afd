import Crypto
import Foundation
import HTTP2
import Shared

/// A push: what goes to which token, and with which headers.
struct PushRequest: Sendable {
    let token: String
    let bundleID: String
    /// 5 or 10.
    let priority: Int
    /// UNIX seconds until which APNs may keep and retry it.
    let expiration: Int64
    let collapseID: String?
    let body: [UInt8]

    /// The request as APNs takes it.
    func http2(providerToken: String) -> HTTP2Request {
        var headers = [
            (name: "authorization", value: "bearer \(providerToken)"),
            (name: "apns-push-type", value: "liveactivity"),
            (name: "apns-topic", value: "\(bundleID).push-type.liveactivity"),
            (name: "apns-priority", value: "\(priority)"),
            (name: "apns-expiration", value: "\(expiration)"),
            (name: "apns-id", value: UUID().uuidString.lowercased()),
            (name: "content-type", value: "application/json"),
        ]
        if let collapseID { headers.append((name: "apns-collapse-id", value: collapseID)) }
        return HTTP2Request(method: "POST", path: "/3/device/\(token)", headers: headers, body: body)
    }
}

/// How long APNs may keep a push for a phone that is away.
///
/// Without a limit it would keep it for up to 30 days.
enum Expiration {
    private static let start: Int64 = 10 * 60
    private static let update: Int64 = 15 * 60
    private static let end: Int64 = 4 * 3600

    /// A start that comes later than this would show dead figures.
    static func start(now: Int64) -> Int64 { now + start }

    /// A state that is stale by now is newer than what it replaces, and has its time too.
    static func update(now: Int64, staleDate: Int64, priority: Int) -> Int64 {
        guard staleDate > now else { return now + update }
        return priority == 10 ? min(staleDate, now + update) : staleDate
    }

    /// The ended card would be gone by then anyway; one that should be gone by now has to be told all the same.
    static func end(now: Int64, dismissalDate: Int64?) -> Int64 {
        if let dismissalDate, dismissalDate > now { dismissalDate } else { now + end }
    }
}
