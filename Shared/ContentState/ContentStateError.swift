/// Why a state cannot go to a phone.
///
/// The description is meant for the person who wrote the agent.
public enum ContentStateError: Error, Hashable {
    case notJSON
    /// A state is a JSON object; this was something else.
    case notAnObject(found: String)
    /// A phone would drop it in silence: at `path` it expects one thing and would find another.
    case undecodable(path: String, expected: String, found: String)
    /// The Swift value has no JSON, as a NaN has none.
    case unencodable(path: String, reason: String)
    /// The phone would read the state, but not as the value that was meant.
    case notEqualAfterDecoding
    /// The whole push is larger than APNs takes; `largest` are the fields to look at, the largest first.
    case tooLarge(bytes: Int, limit: Int, largest: [FieldSize])
    /// A start needs an alert with a title and a body, or the phone shows nothing.
    case emptyAlert
    case unknownKind(String)
    /// The state is for a kind of Island that the agent does not feed.
    case otherKind(String, expected: String)

    /// The share of one field in a push, in bytes of its JSON with its key.
    public struct FieldSize: Hashable, Sendable {
        public let path: String
        public let bytes: Int

        public init(path: String, bytes: Int) {
            self.path = path
            self.bytes = bytes
        }
    }
}

extension ContentStateError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notJSON: "the content state is not JSON"
        case .notAnObject(let found): "expected a JSON object, found \(found)"
        case .undecodable(let path, let expected, let found):
            "iOS would drop this state: at \(path.isEmpty ? "the top" : path) it expects \(expected), found \(found)"
        case .unencodable(let path, let reason):
            "the state cannot be written as JSON\(path.isEmpty ? "" : " at \(path)"): \(reason)"
        case .notEqualAfterDecoding: "iOS would read this state as a different value than was meant"
        case .tooLarge(let bytes, let limit, let largest):
            "the push has \(bytes) bytes, APNs takes \(limit); the largest fields: "
                + largest.map { "\($0.path) (\($0.bytes))" }.joined(separator: ", ")
        case .emptyAlert: "a start needs an alert with a title and a body, or the phone shows nothing"
        case .unknownKind(let name):
            "no kind of Island is called \(name); there are "
                + IslandKind.all.map(\.attributesType).joined(separator: ", ")
        case .otherKind(let name, let expected): "the state is for \(name), but this agent feeds \(expected)"
        }
    }
}
