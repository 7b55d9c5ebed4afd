import AMQP
import Foundation
import Runtime
import Shared

/// Answers what the other services ask over the broker: whom a handle belongs to, and whether a card may be started.
struct Questions: Sendable {
    /// Sends an answer to the asker's own queue; that the asker is gone is no concern of ours.
    typealias Reply = @Sendable (AMQPMessage, _ routingKey: String) async throws(PublishError) -> Void

    let store: RegistryStore
    let outbox: Outbox
    let log: Log
    let figures: Figures
    let reply: Reply

    /// Answers one question.
    ///
    /// One that fails gets no answer: the asker has a deadline and asks again.
    func answer(_ question: AMQPMessage) async {
        do {
            try await send(try await answer(to: question), to: question)
        } catch let error as PublishError {
            log.debug("answer not delivered", ["error": "\(error)"])
        } catch {
            figures.failedQuestions.increment()
            log.warning("question not answered", ["type": question.type, "error": "\(error)"])
        }
    }

    private func answer(to message: AMQPMessage) async throws -> (type: String, body: [UInt8]) {
        switch message.type {
        case RegistryLookup.type:
            let question = try CloudEvent<RegistryLookup>(decoding: message.body)
            let record = try await store.record(of: question.data.handle)
            figures.lookup(record)
            return (RegistryLookup.answerType, try envelope(RegistryLookup.answerType, record))
        case RegistryUserLookup.type:
            let question = try CloudEvent<RegistryUserLookup>(decoding: message.body)
            let record = try await store.user(question.data.userID)?.record ?? .unknown("")
            return (RegistryLookup.answerType, try envelope(RegistryLookup.answerType, record))
        case RegistryStart.type:
            let question = try CloudEvent<RegistryStart>(decoding: message.body)
            let answer = try await decide(question.data, request: question.id)
            return (RegistryStart.answerType, try envelope(RegistryStart.answerType, answer))
        default: throw UnsupportedWireType(type: message.type)
        }
    }

    /// The grant is stored, and the cache knows of it, before anybody hears of it.
    private func decide(_ start: RegistryStart, request: String) async throws -> RegistryStartAnswer {
        let id = UUID().uuidString
        let (verdict, committed) = try await store.change(start.userID) { user, now in
            user.grantStart(start, request: request, id: id, at: now)
        }
        await outbox.follow(committed)
        figures.start(verdict)
        switch verdict {
        case .granted: return RegistryStartAnswer(isGranted: true, reason: nil, grant: request)
        case .adopted:
            return RegistryStartAnswer(isGranted: false, reason: "a card that the app started is the session's now")
        case .denied(let reason): return RegistryStartAnswer(isGranted: false, reason: reason)
        }
    }

    private func envelope(_ type: String, _ data: some Encodable & Sendable) throws -> [UInt8] {
        try CloudEvent(
            id: UUID().uuidString, source: "token-registry", type: type, time: Timestamp(store.clock.now),
            traceparent: nil, data: data
        ).encoded()
    }

    private func send(_ answer: (type: String, body: [UInt8]), to question: AMQPMessage) async throws(PublishError) {
        guard let replyTo = question.replyTo else { return }
        try await reply(
            AMQPMessage(
                id: UUID().uuidString, type: answer.type, timestamp: store.clock.seconds,
                contentType: "application/cloudevents+json", correlationID: question.correlationID, persistent: false,
                body: answer.body), replyTo)
    }
}
