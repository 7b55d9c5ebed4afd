import Foundation
import HTTPServer
import Shared

@testable import TokenRegistry

/// A body of the registry's HTTP interface, and the identifiers in its paths: taken or refused, and a refusal is JSON.
@Sendable func fuzzRegistry(_ input: [UInt8]) {
    let body = Array(input.dropFirst())
    let now = Timestamp(millisecondsSince1970: 1_800_000_000_000)
    do {
        switch (input.first ?? 0) % 5 {
        case 0: _ = try RequestBody.decode(RequestBody.Handles.self, from: body).checked()
        case 1:
            let token = try RequestBody.decode(RequestBody.StartToken.self, from: body).checked(device: "phone")
            precondition(PushToken.lengths.contains(token.token.utf8.count), "a token of no length that is taken")
        case 2:
            let card = try RequestBody.decode(RequestBody.Activity.self, from: body)
                .checked(device: "phone", activity: "A", now: now)
            precondition(card.startedAt ?? now <= now, "a card that starts in the future")
        case 3: _ = try RequestBody.decode(RequestBody.Running.self, from: body).checked()
        default:
            _ = try Identifier.check(String(decoding: body, as: UTF8.self), at: "userID")
            _ = Handle(String(decoding: body, as: UTF8.self))
            _ = Route(String(decoding: body, as: UTF8.self).split(separator: "/").map(String.init))
        }
    } catch let refusal as RequestRefused {
        let answer = HTTPResponse.problem(refusal)
        do { _ = try JSONSerialization.jsonObject(with: Data(answer.body)) } catch {
            preconditionFailure("a refusal that is no JSON: \(String(decoding: answer.body, as: UTF8.self))")
        }
    } catch { preconditionFailure("neither taken nor refused: \(error)") }
}
