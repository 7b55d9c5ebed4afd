import Shared

/// Something about a state that its sender should know.
struct Finding: Equatable {
    enum Effect: String {
        /// iOS drops the whole state in silence.
        case dropped
        /// iOS shows it, but probably not as it was meant.
        case misread
        /// iOS shows it; still better not to do it.
        case note
    }

    /// The names are kept: scripts may look for them.
    enum Name: String, CaseIterable {
        case notJSON = "not-json"
        case notAnObject = "not-an-object"
        case stateAsText = "state-as-text"
        case wholePush = "whole-push"
        case missingKey = "missing-key"
        case wrongKeyCase = "wrong-key-case"
        case null = "null"
        case nullOptional = "null-optional"
        case wrongType = "wrong-type"
        case fractionIntoInt = "fraction-into-int"
        case numberOutOfRange = "number-out-of-range"
        case numberAsText = "number-as-text"
        case unknownEnumCase = "unknown-enum-case"
        case dateAsUnixSeconds = "date-as-unix-seconds"
        case dateAsText = "date-as-text"
        case epochInMilliseconds = "epoch-in-milliseconds"
        case epochSince2001 = "epoch-since-2001"
        case badURL = "bad-url"
        case badUUID = "bad-uuid"
        case badBase64 = "bad-base64"
        case unknownKey = "unknown-key"
        case attributesKey = "attributes-key"
        case duplicateKey = "duplicate-key"
        case equalState = "equal-state"
        case tooLarge = "too-large"
        case undecodable
    }

    let name: Name
    let effect: Effect
    /// As one writes it in code: `items[2].price`; empty for the whole.
    let path: String
    let words: String

    var json: AnyJSON {
        .object([
            "name": .string(name.rawValue), "effect": .string(effect.rawValue), "path": .string(path),
            "words": .string(words),
        ])
    }
}
