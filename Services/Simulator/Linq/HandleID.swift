import Crypto
import Foundation

/// Linq's id of a handle; the same for ever.
enum HandleID {
    static func of(_ handle: String) -> String { UUIDFromName.make("handle", handle).uuidString.lowercased() }
}
