import Foundation
import Shared

@testable import Agent

/// What the tests of a turn put in, and how they look at what comes out.
extension `An event's turn` {
    func at(_ seconds: Double) -> Timestamp {
        Timestamp(millisecondsSince1970: Self.start + Int64(seconds * 1000))
    }

    func message(
        _ text: String, service: MessageService = .iMessage, group: Bool = false, reconciled: Bool = false
    ) -> InboundEvent.Content {
        .message(
            InboundMessage(
                messageID: "m-\(text)", chat: Chat(id: "chat-1", isGroup: group), sender: "+12025559876",
                service: service, parts: [MessagePart(type: "text", value: text)], isReconciled: reconciled,
                receivedAt: at(0)))
    }

    func take(
        _ content: InboundEvent.Content, _ state: UserState?, at seconds: Double, id: String = UUID().uuidString,
        record: RegistryRecord? = nil, by turn: Turn? = nil
    ) async throws -> Turn.Outcome {
        let event = InboundEvent(handle: "+12025559876", content: content)
        let envelope = CloudEvent(
            id: id, source: "linq", type: event.type, time: at(seconds), traceparent: "00-t-s-01", data: event)
        let input = Turn.Input(
            event: envelope, eventKey: "linq/\(id)", record: record ?? known, now: at(seconds))
        return try await (turn ?? self.turn).take(input, state ?? UserState(handle: "+12025559876"))
    }

    func replies(_ outcome: Turn.Outcome) throws -> [ReplyRequest] {
        try outcome.outgoing.filter { $0.exchange == Stage.replies.exchange }
            .map { try CloudEvent<ReplyRequest>(decoding: Array($0.body.utf8)).data }
    }

    func islands(_ outcome: Turn.Outcome) throws -> [DesiredIsland] {
        try outcome.outgoing.filter { $0.exchange == Stage.islands.exchange }
            .map { try CloudEvent<DesiredIsland>(decoding: Array($0.body.utf8)).data }
    }

    func contentState(_ island: DesiredIsland) throws -> CoachAttributes.ContentState? {
        guard case .show(let card) = island.desired else { return nil }
        return try JSONDecoder().decode(CoachAttributes.ContentState.self, from: Data(card.contentState.utf8))
    }
}
