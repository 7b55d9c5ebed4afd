import Foundation

/// Writes states so that a phone reads back exactly what was meant, and refuses those that it would not.
///
/// A phone decodes a state with an untouched `JSONDecoder` and drops in silence what that cannot read (Apple, "Starting
/// and updating Live Activities with ActivityKit push notifications"). So does `check`, but it says why.
public enum ContentStateCodec {
    /// The state's JSON, with its keys in order: equal states have equal bytes.
    public static func encode<State: Codable & Hashable & Sendable>(
        _ state: State
    ) throws(ContentStateError) -> [UInt8] {
        try encode(state, .codable)
    }

    /// The same for a state that writes and reads itself.
    package static func encode<State: JSONCodable & Hashable & Sendable>(
        _ state: State
    ) throws(ContentStateError) -> [UInt8] {
        try encode(state, .direct)
    }

    package static func encode<State: Codable & Hashable & Sendable>(
        _ state: State, _ coding: JSONCoding<State>
    ) throws(ContentStateError) -> [UInt8] {
        let json = try encodeUnchecked(state, coding)
        guard try decode(json, by: coding.decode) == state else { throw .notEqualAfterDecoding }
        return json
    }

    /// Reads JSON as a phone does, and gives it back as the phone understands it: what it ignores is gone.
    public static func check(_ json: [UInt8], kind: IslandKind) throws(ContentStateError) -> [UInt8] {
        try kind.check(json)
    }

    /// Reads a state as a phone does.
    public static func decode<State: Decodable>(
        _ type: State.Type, from json: some Sequence<UInt8>
    ) throws(ContentStateError) -> State {
        try decode(Array(json)) { try JSON.decode(type, from: $0) }
    }

    static func decode<State: Decodable>(
        _ json: [UInt8], by read: ([UInt8]) throws -> State
    ) throws(ContentStateError) -> State {
        do {
            return try read(json)
        } catch {
            if let explanation = ExplainingDecoder.explanation(of: Data(json), as: State.self) { throw explanation }
            guard let error = error as? DecodingError, !ContentStateError(error).isAboutTheWhole else { throw .notJSON }
            throw ContentStateError(error)
        }
    }

    private static func encodeUnchecked<State>(
        _ state: State, _ coding: JSONCoding<State>
    ) throws(ContentStateError) -> [UInt8] {
        do {
            return try coding.encode(state)
        } catch EncodingError.invalidValue(_, let context) {
            throw .unencodable(path: ContentStateError.text(context.codingPath), reason: context.debugDescription)
        } catch {
            throw .unencodable(path: "", reason: "\(error)")
        }
    }
}

extension ContentStateError {
    fileprivate var isAboutTheWhole: Bool {
        if case .undecodable(let path, _, _) = self { path.isEmpty } else { false }
    }
}
