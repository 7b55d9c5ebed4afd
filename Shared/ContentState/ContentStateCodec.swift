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
        let json = try encodeUnchecked(state)
        guard try decode(State.self, from: json) == state else { throw .notEqualAfterDecoding }
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
        let json = Array(json)
        do {
            return try JSON.decode(type, from: json)
        } catch {
            if let explanation = ExplainingDecoder.explanation(of: Data(json), as: type) { throw explanation }
            guard let error = error as? DecodingError, !ContentStateError(error).isAboutTheWhole else { throw .notJSON }
            throw ContentStateError(error)
        }
    }

    private static func encodeUnchecked(_ state: some Encodable) throws(ContentStateError) -> [UInt8] {
        do {
            return try JSON.encode(state)
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
