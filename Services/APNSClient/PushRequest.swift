import Foundation
package import HTTP2

/// A push: what goes to which token, and with which headers.
package struct PushRequest: Sendable {
    package let token: String
    package let bundleID: String
    /// 5 or 10.
    package let priority: Int
    /// UNIX seconds until which APNs may keep and retry it.
    package let expiration: Int64
    package let collapseID: String?
    /// The trace of the text that caused it, as W3C Trace Context writes it.
    package let traceparent: String?
    package let body: [UInt8]

    package init(
        token: String, bundleID: String, priority: Int, expiration: Int64, collapseID: String?,
        traceparent: String? = nil, body: [UInt8]
    ) {
        self.token = token
        self.bundleID = bundleID
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.traceparent = traceparent
        self.body = body
    }

    /// The request as APNs takes it.
    package func http2(providerToken: String) -> HTTP2Request {
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
        if let traceparent { headers.append((name: "traceparent", value: traceparent)) }
        return HTTP2Request(method: "POST", path: "/3/device/\(token)", headers: headers, body: body)
    }
}
