package import Foundation
package import Shared

/// What a team brings: it is told what happened to a user, and says what to answer and what the Island shows now.
///
/// `CoachAgent` is one. There is nothing to know about queues, databases or tokens: a user's events come one at a time
/// and in order, `model` is stored together with the answer, and an event that has been answered does not come again.
/// If `respond` throws, nothing is stored and the event is tried again: a few times, or for hours after a `PassingFailure`.
package protocol IslandAgent: Sendable {
    /// All that the agent remembers of one user; stored as JSON. Add fields as optionals, or old models are not read.
    associatedtype Model: Codable & Sendable
    /// The kind of Island it feeds.
    associatedtype Attributes: IslandAttributes

    /// The model of a user who has never been heard of.
    var initialModel: Model { get }

    /// Answers one event. Changes `model` as it likes and returns what must go out.
    func respond(
        to event: AgentEvent, model: inout Model, context: AgentContext
    ) async throws -> AgentResponse<Attributes.ContentState>
}

/// An error of an agent that may say: not now, a server that I need is away.
///
/// Then the event waits for up to four hours, and with it all that the user sends meanwhile, in order. After any other
/// error the event is put aside for a person to look at, and the user's later ones go on.
package protocol PassingFailure: Error {
    var isPassing: Bool { get }
}

/// What happened to a user.
package enum AgentEvent: Sendable, Equatable {
    /// A text, a photo or a link from the user. `text` has its words, and `wantsAnswer` says whether to answer.
    case message(InboundMessage)
    /// A reaction to a message, added or taken back.
    case reaction(InboundReaction)
    /// A message that the user sent before now reads differently.
    case edit(InboundEdit)
    /// The team's own backend reports something: a workout, an order that left the kitchen.
    case custom(CustomEvent)
    /// The session has been idle and is over now. Unless the agent says otherwise, the Island ends with its last state.
    case sessionEnding
}

extension InboundMessage {
    /// Whether somebody waits for an answer.
    ///
    /// Nobody does who wrote what Linq recovered late, who opts out, or who did not mention the line in a group.
    package var wantsAnswer: Bool { !isReconciled && !isOptOut && (!chat.isGroup || mentionsLine) }
}

/// Who it happened to, and when.
package struct AgentContext: Sendable, Equatable {
    /// The event's id: the same on every try.
    package var eventID: String
    /// When the event came in.
    ///
    /// An agent takes the time from here, so that a late event still counts for its own day.
    package var now: Date
    package var user: AgentUser
    package var session: AgentSession
    /// What the Island was last told to show, as JSON; `nil` before the first state.
    package var contentState: [UInt8]?

    package init(
        eventID: String, now: Date, user: AgentUser, session: AgentSession, contentState: [UInt8]? = nil
    ) {
        self.eventID = eventID
        self.now = now
        self.user = user
        self.session = session
        self.contentState = contentState
    }
}

/// The user as far as the registry knows them.
package struct AgentUser: Sendable, Equatable {
    /// The phone number or e-mail address that they write from.
    package var handle: String
    /// The team's own id of the user; `nil` until their app has told the registry.
    package var id: String?
    package var timeZone: TimeZone?
    package var locale: Locale?

    package init(handle: String, id: String? = nil, timeZone: TimeZone? = nil, locale: Locale? = nil) {
        self.handle = handle
        self.id = id
        self.timeZone = timeZone
        self.locale = locale
    }
}

/// A stretch of texting without a long pause; one card of the Island lasts as long.
package struct AgentSession: Sendable, Equatable {
    package var id: String
    /// Whether this event began it.
    package var isNew: Bool
    package var startedAt: Date

    package init(id: String, isNew: Bool, startedAt: Date) {
        self.id = id
        self.isNew = isNew
        self.startedAt = startedAt
    }
}

/// What must go out after an event: the replies in the thread, and the Island.
package struct AgentResponse<State: Sendable>: Sendable {
    /// Sent in this order; none is an answer too.
    package var replies: [AgentReply]
    package var island: AgentIsland<State>

    package init(replies: [AgentReply] = [], island: AgentIsland<State> = .unchanged) {
        self.replies = replies
        self.island = island
    }
}

/// What the Island shows from now on.
package enum AgentIsland<State: Sendable>: Sendable {
    /// The whole state. An alert lights the screen up: for a milestone, not for every step. Without `staleAfter` the
    /// setting `STALE_AFTER` holds.
    case show(
        State, alert: DesiredIsland.Alert? = nil, priority: AgentPriority = .now, staleAfter: Duration? = nil)
    /// The card goes, with this as its last state.
    case end(State? = nil)
    case unchanged
}

extension AgentIsland: Equatable where State: Equatable {}
extension AgentResponse: Equatable where State: Equatable {}

/// How much of a hurry a state is in; the number is `apns-priority`.
package enum AgentPriority: Int, Sendable, Equatable, Codable {
    /// For what the user just did. Phones allow an app only so many of these an hour.
    case now = 10
    case whenConvenient = 5
}

/// One message to the user.
package struct AgentReply: Sendable, Equatable {
    package var text: String
    /// Addresses (https) of pictures and other media, which go out with the end of the text; Linq takes 40 at most.
    package var media: [String]
    /// Goes out as a message of its own after the text, as Linq wants it.
    package var link: String?
    /// An iMessage effect, such as `Effect(type: "screen", name: "confetti")`; other services ignore it.
    package var effect: ReplyRequest.Effect?
    /// The message that this answers in its thread.
    package var replyTo: String?

    package init(
        _ text: String, media: [String] = [], link: String? = nil, effect: ReplyRequest.Effect? = nil,
        replyTo: String? = nil
    ) {
        self.text = text
        self.media = media
        self.link = link
        self.effect = effect
        self.replyTo = replyTo
    }
}
