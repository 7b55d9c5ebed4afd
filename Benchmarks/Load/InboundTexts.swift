import Crypto
import Foundation
import Runtime

/// `message.received` webhooks of many users, signed as Standard Webhooks wants it.
struct InboundTexts {
    let users: Int
    private let firstUser: Int
    private let key: HMACKey
    private let head: String
    /// Unlike those of any other run.
    private let run = UInt64.random(in: 0..<1 << 48)

    init(secret: String, users: Int, firstUser: Int, target: String) {
        self.users = users
        self.firstUser = firstUser
        let text = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        key = HMACKey(Array(Data(base64Encoded: String(text.dropFirst("whsec_".count))) ?? Data()))
        let path = URLComponents(string: target)?.path ?? "/"
        head = "POST \(path) HTTP/1.1\r\nHost: ingress\r\nContent-Type: application/json\r\n"
    }

    /// The whole request that brings text number `number`; users take turns.
    func request(_ number: Int) -> [UInt8] {
        let user = MadeUpUser(firstUser + number % users)
        let event = Self.uuid(run, UInt64(number))
        let body = Array(json(user, number / users + 1, event).utf8)
        let now = Int(Date().timeIntervalSince1970)
        let signed = key.authenticate(Array("\(event).\(now).".utf8), body)
        let headers =
            "\(head)webhook-id: \(event)\r\nwebhook-timestamp: \(now)\r\n"
            + "webhook-signature: v1,\(Data(signed).base64EncodedString())\r\nContent-Length: \(body.count)\r\n\r\n"
        return Array(headers.utf8) + body
    }

    /// As Linq's version 2026-02-03 writes it.
    private func json(_ user: MadeUpUser, _ text: Int, _ event: String) -> String {
        let person = Self.person(user.handle, id: Self.uuid(1, UInt64(user.number)), isMe: false)
        let line = Self.person("+12025551234", id: Self.uuid(2, 0), isMe: true)
        let message = Self.uuid(run + 1, UInt64(text) << 32 | UInt64(user.number))
        return """
            {"api_version":"v3","webhook_version":"2026-02-03","event_type":"message.received","event_id":"\(event)",\
            "created_at":"\(Self.date)","trace_id":"\(event.filter { $0 != "-" })","partner_id":"partner","data":{"chat":\
            {"id":"\(user.chatID)","is_group":false,"owner_handle":\(line)},"id":"\(message)",\
            "direction":"inbound","sender_handle":\(person),"parts":[{"type":"text","value":"snack \(text), 10 cal"}],\
            "effect":null,"reply_to":null,"sent_at":"\(Self.date)","delivered_at":null,"read_at":null,\
            "service":"iMessage"}}
            """
    }

    private static let date = ISO8601DateFormatter().string(from: Date())

    private static func person(_ handle: String, id: String, isMe: Bool) -> String {
        """
        {"handle":"\(handle)","id":"\(id)","is_me":\(isMe),"joined_at":"\(date)","left_at":null,\
        "service":"iMessage","status":"active"}
        """
    }

    private static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let first = hex(high, 12)
        let last = hex(low, 16)
        return "\(first.prefix(8))-\(first.suffix(4))-4\(last.prefix(3))-8\(last.dropFirst(4).prefix(3))-"
            + "\(last.dropFirst(3).prefix(1))\(last.suffix(11))"
    }

    private static func hex(_ number: UInt64, _ digits: Int) -> String {
        String(MadeUpUser.padded(String(number, radix: 16), digits).suffix(digits))
    }
}
