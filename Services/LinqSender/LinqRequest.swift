import Foundation
import HTTPClient
import Runtime
import Shared

/// A reply as Linq's API takes it.
struct LinqRequest: Sendable {
    let baseURL: String
    let token: Secret<String>
    let replyVia: LinqSenderSettings.ReplyVia

    /// The request for one reply: a group's goes to its chat, a direct one's to its handle or its chat by the setting.
    ///
    /// - Parameter traceparent: The trace of the text that it answers, as W3C Trace Context writes it.
    func make(_ reply: ReplyRequest, traceparent: String? = nil) throws -> HTTPClientRequest {
        let toChat = isToChat(reply)
        let body = Body(
            to: toChat ? nil : [reply.to],
            message: Body.Content(
                parts: reply.parts.map { Body.Part(type: $0.type, value: $0.value, url: $0.url) },
                idempotency_key: reply.idempotencyKey, reply_to: reply.replyTo.map(Body.ReplyTo.init),
                effect: reply.effect))
        var headers = [
            (name: "Authorization", value: "Bearer \(token.reveal())"),
            (name: "Content-Type", value: "application/json"),
        ]
        // Declared for this endpoint alone; the key in the body is the one that all of them know.
        if !toChat { headers.append((name: "Idempotency-Key", value: reply.idempotencyKey)) }
        if let traceparent { headers.append((name: "traceparent", value: traceparent)) }
        let path = toChat ? "/v3/chats/\(Self.escaped(reply.chat.id))/messages" : "/v3/messages"
        return HTTPClientRequest(
            "POST", baseURL + path, headers: headers, body: try JSON.encode(body, sortsKeys: false))
    }

    private func isToChat(_ reply: ReplyRequest) -> Bool { reply.chat.isGroup || replyVia == .chat }

    /// The path of the request for a reply, without the chat.
    func template(_ reply: ReplyRequest) -> String {
        isToChat(reply) ? "/v3/chats/{chatId}/messages" : "/v3/messages"
    }

    /// The request that shows a hint; `nil` for a kind that this build does not know.
    func make(_ hint: ChatHint) -> HTTPClientRequest? {
        let call: (method: String, path: String)
        switch hint.kind {
        case .read: call = ("POST", "read")
        case .typing: call = ("POST", "typing")
        case .typingStopped: call = ("DELETE", "typing")
        default: return nil
        }
        return HTTPClientRequest(
            call.method, "\(baseURL)/v3/chats/\(Self.escaped(hint.chat.id))/\(call.path)",
            headers: [(name: "Authorization", value: "Bearer \(token.reveal())")], body: [])
    }

    private static func escaped(_ segment: String) -> String {
        segment.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_.~")))
            ?? ""
    }
}
