import Shared

/// A phone number in E.164 or an e-mail address in lower case: what a user writes from.
struct Handle: Sendable, Hashable {
    static let mostBytes = 254

    let text: String

    /// Reads what an app or a backend sends, by the rules that all services share; `nil` for what is neither.
    init?(_ raw: String) {
        guard raw.utf8.count <= Self.mostBytes, let text = Shared.Handle.normalised(raw) else { return nil }
        self.text = text
    }

    var isPhoneNumber: Bool { text.hasPrefix("+") }
}
