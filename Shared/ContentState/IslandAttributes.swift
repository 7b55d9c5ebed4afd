/// The attributes of a Live Activity: what stays the same for the life of a card, and the state that moves.
///
/// The same file is compiled into the server and into the app, so that both mean the same fields and types.
/// To keep what is on phones already readable: no `Date` in a state (a phone reads it as seconds since 2001, whole UNIX
/// seconds in an `Int` are safe), enums that decode from an unknown case, fields added later optional, and the type's
/// name never changed.
public protocol IslandAttributes: Codable, Hashable, Sendable {
    associatedtype ContentState: Codable, Hashable, Sendable

    /// Whose card it is, by the customer's own id.
    var userID: String { get }
    /// The session that the card belongs to; `nil` on a card that the app itself started. The app reports it back with
    /// the card's token.
    var sessionID: String? { get }

    init(userID: String, sessionID: String?)

    /// A state as it might be in the middle of a session.
    static var example: ContentState { get }
    /// What a card's start says when the agent gave no words of its own: without an alert a phone starts nothing.
    static var startAlert: DesiredIsland.Alert { get }
    /// What the names of fields do not say by themselves, such as units, by path ("items.price"): it goes into the
    /// schema, for people and for language models.
    static var fieldNotes: [String: String] { get }
}

extension IslandAttributes {
    /// What `attributes-type` says: the bare name of the type.
    public static var attributesType: String { String(describing: Self.self) }

    public static var fieldNotes: [String: String] { [:] }
}
