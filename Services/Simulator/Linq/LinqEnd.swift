import Crypto
import Foundation
import HTTPServer
import Runtime
import Shared

/// The stand-in for Linq: takes what `linq-sender` sends, and makes webhooks of what people write.
final class LinqEnd: Sendable {
    /// Where the API begins.
    static let prefix = ["api", "partner", "v3"]
    /// Requests that are held without an answer at once, for the fault of that name.
    static let mostHeld = 1000

    /// A text that was put on its way.
    struct Posted: Sendable, Encodable {
        let eventID: String
        let messageID: String
        let chatID: String
    }

    let book: Locked<LinqBook>
    let faults = FaultQueue<LinqFault>()
    /// For the requests that mark a chat as read or show typing.
    let hintFaults = FaultQueue<LinqFault>()
    let webhooks: WebhookSender
    let subscriptions: Subscriptions
    private let token: [UInt8]
    private let trails: Trails
    private let clock: WallClock
    /// Whether what the line sends comes back as `message.sent` and `message.delivered`.
    private let sendsReceipts: Bool
    private let held = Locked<[HTTPResponder]>([])
    /// Told the handles whose chat changed.
    private let changed: @Sendable ([String]) -> Void

    init(
        line: String, token: Secret<String>, subscriptions: Subscriptions, webhooks: WebhookSender,
        sendsReceipts: Bool, trails: Trails, clock: WallClock, changed: @escaping @Sendable ([String]) -> Void
    ) {
        book = Locked(LinqBook(line: line))
        self.token = Array(token.reveal().utf8)
        self.subscriptions = subscriptions
        self.webhooks = webhooks
        self.sendsReceipts = sendsReceipts
        self.trails = trails
        self.clock = clock
        self.changed = changed
    }

    /// Linq's own time, by which typing ends.
    var now: Date { clock.now }

    // MARK: What people write

    /// A person writes: the message is noted and its webhook goes out.
    func post(_ text: InboundText) throws(WebhookSender.TooMany) -> Posted {
        let (event, posted) = prepare(text)
        try webhooks.deliver(event, to: subscriptions.targets(for: event.type))
        return posted
    }

    /// The same, returning when the first subscription took the webhook or it was given up.
    func postAndWait(_ text: InboundText) async -> (Posted, WebhookSender.Delivery?) {
        let (event, posted) = prepare(text)
        guard let target = subscriptions.targets(for: event.type).first else { return (posted, nil) }
        return (posted, await webhooks.deliverAndWait(event, to: target))
    }

    private func prepare(_ text: InboundText) -> (WebhookSender.Event, Posted) {
        let now = clock.now
        let (message, chat, line) = book.withLock { book in
            let handles = Array(Set([text.from] + (text.group ?? [])))
            let chat = book.chat(with: handles, service: text.service ?? "iMessage", id: text.chat?.lowercased())
            let message = LinqBook.Message(
                id: UUID().uuidString.lowercased(), chatID: chat.id,
                direction: text.echo == true ? .outbound : .inbound,
                sender: text.echo == true ? book.line : text.from, parts: WebhookBody.parts(of: text, line: book.line),
                service: text.service ?? chat.service, at: now, idempotencyKey: nil)
            if let reaction = text.reaction {
                book.react(reaction, to: text.messageID ?? "", in: chat.id, isAdded: text.removed != true)
            } else {
                book.receive(message, expectsReply: text.expectsReply)
            }
            return (message, chat, book.line)
        }
        let eventID = UUID().uuidString.lowercased()
        let body = WebhookBody(eventID: eventID, text: text, message: message, chat: chat, line: line)
        let event = WebhookSender.Event(
            id: eventID, type: body.eventType, body: body.bytes, trail: Trails.traceID(ofEvent: eventID),
            copies: text.copies ?? 1,
            delay: .milliseconds(text.delayMilliseconds ?? 0))
        if text.echo != true { trails.begin(text, eventID: eventID) }
        changed(chat.handles)
        return (event, Posted(eventID: eventID, messageID: message.id, chatID: chat.id))
    }

    // MARK: The API

    /// Answers a request under `/api/partner/v3`.
    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let traceID = RandomBytes.make(16).hexString
        guard isAuthorized(request) else { return responder.respond(answer(.unauthorized, traceID)) }
        let path = Array(request.segments.dropFirst(Self.prefix.count))
        switch (request.method, path.count, path.first ?? "", path.last ?? "") {
        case ("POST", 1, "messages", _): send(request, chatID: nil, responder, traceID)
        case ("POST", 3, "chats", "messages"): send(request, chatID: path[1], responder, traceID)
        case ("POST", 3, "chats", "typing"):
            hint(path[1], responder, traceID) { book, id, now throws(LinqFailure) in
                try book.setTyping(true, in: id, at: now)
            }
        case ("DELETE", 3, "chats", "typing"):
            hint(path[1], responder, traceID) { book, id, now throws(LinqFailure) in
                try book.setTyping(false, in: id, at: now)
            }
        case ("POST", 3, "chats", "read"):
            hint(path[1], responder, traceID) { book, id, now throws(LinqFailure) in
                try book.markRead(id, at: now)
            }
        case ("GET", 1, "phone_numbers", _): responder.respond(answer(200, lines, traceID))
        case (_, _, "webhook-subscriptions", _):
            do throws(LinqFailure) {
                let (status, body) = try subscriptions.handle(request, path)
                responder.respond(answer(status, body, traceID))
            } catch { responder.respond(answer(error, traceID)) }
        default: responder.respond(answer(LinqFailure(status: 404, code: 2001, message: "Not found"), traceID))
        }
    }

    /// The account's one line.
    private var lines: String {
        let line = book.withLock { $0.line }
        return """
            {"phone_numbers":[{"id":\(HandleID.of(line).json),"phone_number":\(line.json),"reputation":{"status":"HEALTHY",\
            "doc_url":"https://docs.linqapp.com/channel/imessage/guides/phone-numbers/phone-reputation#healthy",\
            "updated_at":"\(Timestamp(clock.now))"}}]}
            """
    }

    private func isAuthorized(_ request: HTTPRequest) -> Bool {
        guard let header = request.header("authorization"), header.lowercased().hasPrefix("bearer ") else {
            return false
        }
        return constantTimeEqual(Array(header.dropFirst("bearer ".count).utf8), token)
    }

    private func send(_ request: HTTPRequest, chatID: String?, _ responder: HTTPResponder, _ traceID: String) {
        let trail = Trails.traceID(inHeader: request.header("traceparent"))
        let fault = faults.next()
        if let fault, let response = refusal(fault.fault, fault.retryAfter, traceID) {
            let pause = fault.fault == .rateLimited ? "come again in \(fault.retryAfter) s" : fault.fault.rawValue
            trails.add(.reply(refusedWith: response.status, pause, request), to: trail)
            return responder.respond(response)
        }
        if fault?.fault == .reset {
            trails.add(Hop(.replied, .bad, "Linq closes the connection without having taken the reply"), to: trail)
            return responder.abort()
        }
        do throws(LinqFailure) {
            let acceptance = try accept(request, chatID: chatID)
            trails.add(.reply(acceptance, fault?.fault, request), to: trail)
            switch fault?.fault {
            case .timeout: hold(responder)
            case .resetAfterAccepting: responder.abort()
            case .errorAfterAccepting: responder.respond(answer(.internalError, traceID))
            case .withoutID: responder.respond(answer(202, "{}", traceID))
            default: responder.respond(answer(202, acceptance.body, traceID))
            }
        } catch {
            book.withLock { $0.count(error) }
            trails.add(.reply(refusedWith: error.status, error.message, request), to: trail)
            responder.respond(answer(error, traceID))
        }
    }

    private func accept(_ http: HTTPRequest, chatID: String?) throws(LinqFailure) -> LinqBook.Acceptance {
        let now = clock.now
        let acceptance: LinqBook.Acceptance
        if let chatID {
            let request = try SendToChat(checking: http.body)
            acceptance = try book.withLock { book throws(LinqFailure) in try book.send(request, chatID: chatID, at: now)
            }
        } else {
            let request = try SendToHandles(checking: http.body, keyHeader: http.header("idempotency-key"))
            acceptance = try book.withLock { book throws(LinqFailure) in try book.send(request, at: now) }
        }
        guard let message = acceptance.message, let chat = book.withLock({ $0.chats[message.chatID] }) else {
            return acceptance
        }
        changed(chat.handles)
        if sendsReceipts { sendReceipts(of: message, chat) }
        return acceptance
    }

    /// Tells the subscribers that a message of ours left and, where the phone tells Linq, that it arrived.
    private func sendReceipts(of message: LinqBook.Message, _ chat: LinqBook.Chat) {
        var echo = InboundText(from: chat.handles.first ?? "")
        echo.echo = true
        let line = book.withLock { $0.line }
        for isDelivered in message.service == "iMessage" && !chat.isGroup ? [false, true] : [false] {
            let id = UUID().uuidString.lowercased()
            let body = WebhookBody(
                eventID: id, text: echo, message: message, chat: chat, line: line, isDelivered: isDelivered)
            let event = WebhookSender.Event(id: id, type: body.eventType, body: body.bytes)
            // Receipts come without a promise: with too much on its way, these are the ones to leave out.
            try? webhooks.deliver(event, to: subscriptions.targets(for: event.type))
        }
    }

    /// Answers a request that shows something in the person's thread and sends nothing.
    private func hint(
        _ chatID: String, _ responder: HTTPResponder, _ traceID: String,
        _ body: (inout LinqBook, String, Date) throws(LinqFailure) -> Void
    ) {
        switch hintFaults.next() {
        case (.timeout, _)?: return hold(responder)
        case (let fault, let retryAfter)?:
            guard let response = refusal(fault, retryAfter, traceID) else { return responder.abort() }
            return responder.respond(response)
        case nil: break
        }
        let id = chatID.lowercased()
        let now = clock.now
        do throws(LinqFailure) {
            try book.withLock { book throws(LinqFailure) in try body(&book, id, now) }
            changed(book.withLock { $0.chats[id]?.handles } ?? [])
            responder.respond(HTTPResponse(status: 204, headers: [("X-Trace-ID", traceID)]))
        } catch {
            book.withLock { $0.count(error) }
            responder.respond(answer(error, traceID))
        }
    }

    /// The answer of a fault that keeps the message out.
    private func refusal(_ fault: LinqFault, _ retryAfter: Int, _ traceID: String) -> HTTPResponse? {
        switch fault {
        case .rateLimited: answer(.rateLimited(retryAfter: retryAfter), traceID)
        case .error: answer(.internalError, traceID)
        case .unavailable: answer(.unavailable, traceID)
        case .chatBeingCreated: answer(.chatBeingCreated, traceID)
        case .optedOut: answer(.optedOut, traceID)
        case .unauthorized: answer(.unauthorized, traceID)
        case .html:
            HTTPResponse(
                status: 502, headers: [("Content-Type", "text/html")],
                body: Array("<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>".utf8))
        case .timeout, .reset, .resetAfterAccepting, .errorAfterAccepting, .withoutID: nil
        }
    }

    private func hold(_ responder: HTTPResponder) {
        let dropped = held.withLock { held in
            held.append(responder)
            return held.count > Self.mostHeld ? held.removeFirst() : nil
        }
        dropped?.abort()
    }

    private func answer(_ status: Int, _ body: String, _ traceID: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "application/json"), ("X-Trace-ID", traceID)],
            body: Array(body.utf8))
    }

    private func answer(_ failure: LinqFailure, _ traceID: String) -> HTTPResponse {
        var response = answer(failure.status, failure.body(traceID: traceID), traceID)
        if let retryAfter = failure.retryAfter { response.headers.append(("Retry-After", "\(retryAfter)")) }
        return response
    }

    func close() async {
        for responder in held.withLock({ $0 }) { responder.abort() }
        held.withLock { $0 = [] }
        await webhooks.close()
    }
}
