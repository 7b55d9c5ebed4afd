import HTTPServer

/// What the stand-in for Linq tells of a text's way.
extension Hop {
    /// A reply was taken; `fault` is what its sender is told instead.
    static func reply(_ acceptance: LinqBook.Acceptance, _ fault: LinqFault?, _ request: HTTPRequest) -> Hop {
        if acceptance.message == nil {
            return Hop(
                .replied, .idle, "Linq has this reply already: the same idempotency key, the same answer",
                message: request.body)
        }
        let words =
            switch fault {
            case .timeout: "Linq takes the reply and says nothing"
            case .resetAfterAccepting: "Linq takes the reply and closes the connection"
            case .errorAfterAccepting: "Linq takes the reply and answers 500"
            case .withoutID: "Linq takes the reply and answers without an id"
            default: "Linq accepts the reply: 202"
            }
        return Hop(.replied, .good, words, message: request.body)
    }

    static func reply(refusedWith status: Int, _ reason: String, _ request: HTTPRequest) -> Hop {
        Hop(.replied, .bad, "Linq answers \(status): \(reason)", message: request.body)
    }
}

extension Trails {
    /// Somebody has done something in Messages.
    func begin(_ text: InboundText, eventID: String) {
        let id = Self.traceID(ofEvent: eventID)
        let title =
            if let reaction = text.reaction {
                text.removed == true ? "Takes back: \(reaction)" : "Reaction: \(reaction)"
            } else {
                text.text ?? (text.media == nil ? text.link : "Photo") ?? ""
            }
        begin(Trail(id: id, subject: text.from, title: String(title.prefix(200)), isText: text.expectsReply))
    }
}
