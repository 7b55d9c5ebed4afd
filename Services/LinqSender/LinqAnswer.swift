import HTTPClient
import Shared

/// What Linq's answer to a reply means for it (Linq's table of error codes, section "errors" of its docs).
enum LinqAnswer: Sendable, Equatable {
    /// Linq has it, or has had it before under the same key.
    case accepted
    /// It may go through later, not before `after` if that is given.
    case later(after: Duration?, reason: String)
    /// Nobody's reply can go through until somebody mends our access.
    case denied(reason: String)
    /// The recipient has asked for silence: there is nothing to do and nobody to tell.
    case optedOut
    /// This reply never goes through.
    case refused(reason: String)

    private struct Envelope: Decodable {
        struct Fault: Decodable {
            let code: Int?
            let retry_after: Double?
        }

        let error: Fault?
    }

    /// Longer pauses than this are not taken at their word.
    private static let longestPause = 3600.0

    init(_ response: HTTPClientResponse) {
        if (200..<300).contains(response.status) {
            self = .accepted
            return
        }
        // Error pages of Linq's edge are HTML: then the status alone has to do.
        let fault = (try? JSON.decode(Envelope.self, from: response.body))?.error
        let code = fault?.code
        let reason = "\(response.status)" + (code.map { "/\($0)" } ?? "")
        switch (response.status, code) {
        case (429, _): self = .later(after: Self.pause(response, fault), reason: reason)
        case (409, 2009), (404, 2007): self = .later(after: .seconds(2), reason: reason)
        case (409, 2015): self = .later(after: .seconds(10), reason: reason)
        case (408, _), (500..., _): self = .later(after: Self.pause(response, fault), reason: reason)
        case (403, 2024): self = .optedOut
        case (401, _), (403, 2004), (403, 2005), (403, 2006), (403, 2011): self = .denied(reason: reason)
        default: self = .refused(reason: reason)
        }
    }

    private static func pause(_ response: HTTPClientResponse, _ fault: Envelope.Fault?) -> Duration? {
        let seconds = response.header("retry-after").flatMap(Double.init) ?? fault?.retry_after
        return seconds.flatMap { $0 > 0 ? .milliseconds(Int(min($0, longestPause) * 1000)) : nil }
    }
}
