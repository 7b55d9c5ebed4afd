import Foundation
import Runtime
import Shared

/// What an open page shows of one person: enough for a screen, however long the conversation is.
struct PageView: Encodable {
    /// Messages at the end of a thread; earlier ones are asked for.
    static let messages = 40
    /// Ways of texts.
    static let trails = 20

    let person: StateView
    /// How many messages each chat has in all, by its id.
    let messageCounts: [String: Int]
    let trails: [TrailView]
    /// Texts of the trails that are remembered, and how many of them have their reply.
    let texts: Int
    let answered: Int
    /// Requests that still get a fault.
    let faults: [String: Int]
    /// Whether somebody is there who starts a service again that was killed.
    let isSupervised: Bool
    /// Who answers, as far as that was chosen on the page.
    let agent: String

    init(of subject: String, in world: World) {
        var person = world.view(of: subject, messages: Self.messages)
        // The trails tell of these.
        person.pushes = []
        person.webhooks = []
        self.person = person
        messageCounts = world.linq.book.withLock { book in
            Dictionary(uniqueKeysWithValues: person.chats.map { ($0.id, book.threads[$0.id]?.count ?? 0) })
        }
        var subjects = Set(person.handles + [subject])
        if let userID = person.userID { subjects.insert(userID) }
        let all = world.trails.recent(of: subjects)
        trails = all.suffix(Self.trails).map(TrailView.init)
        texts = all.count(where: \.isText)
        answered = all.count { $0.isText && $0.has(.replied, .good) }
        faults = ["linq": world.linq.faults.waiting, "apns": world.apns.faults.waiting]
        isSupervised = world.supervisor.isThere
        agent = world.supervisor.agent
    }
}
