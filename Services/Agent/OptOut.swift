import Shared

/// The words by which a person stops all messages of the account.
///
/// Linq's rule ("Chat health"): the whole message counts, in capitals; OPT OUT in any case, with or without a blank or
/// a hyphen. Until they write anything else, Linq refuses every message to them; a group is never stopped.
enum OptOut {
    private static let words: Set<String> = ["STOP", "UNSUBSCRIBE", "OPTOUT", "CANCEL", "END", "QUIT"]

    static func isKeyword(_ text: String) -> Bool {
        let text = text.trimmed
        return words.contains(text) || ["opt out", "opt-out", "optout"].contains(text.lowercased())
    }
}

extension InboundMessage {
    /// Whether the user opts out with it: an answer would not reach them.
    package var isOptOut: Bool { !chat.isGroup && OptOut.isKeyword(text) }
}
