import Foundation
import Runtime
import Shared

/// Sends a text through the stack as Linq would, and waits for what comes of it.
struct Say: Sendable {
    struct Request: Decodable {
        let from: String
        let text: String
        var service: String?
        var timeoutSeconds: Double?
        /// Whether an Island has to come; without it, one is awaited where it can come.
        var expectIsland: Bool?
    }

    struct Answer: Encodable {
        let reply: String
        let replies: [String]
        let island: StateView.Island?
        /// From the text to the later of reply and Island.
        let seconds: Double
        let replySeconds: Double
        let islandSeconds: Double?
    }

    /// What did not come in time.
    struct Missing: Error {
        let what: [String]
        let reply: String?
        /// Pushes that the phone took and dropped meanwhile, with the reasons.
        let dropped: [String]
        let webhook: String
    }

    static let usualTimeout = 15.0
    static let longestTimeout = 55.0
    private static let pause = Duration.milliseconds(5)
    /// How long the Island must stay as it is.
    ///
    /// A start's update token brings the state before this text once more.
    private static let settling = Duration.milliseconds(300)

    let world: World

    func run(_ request: Request) async throws -> Answer {
        let timeout = min(request.timeoutSeconds ?? Self.usualTimeout, Self.longestTimeout)
        var text = InboundText(from: request.from, text: request.text)
        text.service = request.service
        if world.onboards { try await world.onboard(request.from) }
        let startedAt = Moment(second: WallClock.system.seconds, phoneTime: world.phones.now)
        let start = ContinuousClock.now
        let posted = try world.linq.post(text)
        let canHaveIsland = (request.service ?? "iMessage") == "iMessage" && !phones(of: request.from).isEmpty
        let expectsIsland = request.expectIsland ?? canHaveIsland
        var replyAt: Duration?
        var islandAt: Duration?
        var timestamp: Int64?
        while ContinuousClock.now - start < .seconds(timeout) {
            let elapsed = ContinuousClock.now - start
            if replyAt == nil, !replies(posted).isEmpty { replyAt = elapsed }
            if let card = island(of: request.from, since: startedAt), card.timestamp != timestamp {
                (islandAt, timestamp) = (elapsed, card.timestamp)
            }
            let isSettled = islandAt.map { elapsed - $0 >= Self.settling } ?? !expectsIsland
            if let replyAt, isSettled {
                let replies = replies(posted)
                return Answer(
                    reply: replies.first ?? "", replies: replies,
                    island: island(of: request.from, since: startedAt).map(StateView.Island.init),
                    seconds: max(replyAt, islandAt ?? .zero).seconds, replySeconds: replyAt.seconds,
                    islandSeconds: islandAt?.seconds)
            }
            try await Task.sleep(for: Self.pause)
        }
        throw missing(posted, request, hasReply: replyAt != nil, hasIsland: islandAt != nil || !expectsIsland)
    }

    private func phones(of handle: String) -> [VirtualPhone] {
        world.phones.userID(of: handle).map(world.phones.phones) ?? []
    }

    /// The card whose state came of a push since `moment`: the agent stamps states with the second they were made in.
    private func island(of handle: String, since moment: Moment) -> Card? {
        for phone in phones(of: handle) {
            if let card = phone.island, card.timestamp >= moment.second, card.appliedAt >= moment.phoneTime {
                return card
            }
        }
        return nil
    }

    /// The same moment by two clocks: the phones' may have been moved ahead.
    private struct Moment {
        let second: Int64
        let phoneTime: Date
    }

    private func replies(_ posted: LinqEnd.Posted) -> [String] {
        world.linq.book.withLock { book in
            let thread = book.threads[posted.chatID] ?? []
            let asked = thread.lastIndex { $0.id == posted.messageID } ?? thread.startIndex
            return thread[asked...].filter { $0.direction == .outbound }.map(\.text)
        }
    }

    private func missing(
        _ posted: LinqEnd.Posted, _ request: Request, hasReply: Bool, hasIsland: Bool
    ) -> Missing {
        let webhook = world.linq.webhooks.recent.last { $0.eventID == posted.eventID }
        return Missing(
            what: (hasReply ? [] : ["the reply"]) + (hasIsland ? [] : ["the Island"]),
            reply: replies(posted).first,
            dropped: phones(of: request.from).flatMap(\.dropped).suffix(5).map(\.reason),
            webhook: webhook.map { "\($0.outcome) (status \($0.status ?? 0))" } ?? "still on its way")
    }
}
