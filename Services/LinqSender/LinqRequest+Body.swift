import Shared

extension LinqRequest {
    /// A request's body, its fields named as Linq names them.
    struct Body: Encodable {
        let to: [String]?
        let message: Content

        struct Content: Encodable {
            let parts: [Part]
            let idempotency_key: String
            let reply_to: ReplyTo?
            let effect: ReplyRequest.Effect?
        }

        struct Part: Encodable {
            let type: String
            let value: String?
            let url: String?
        }

        struct ReplyTo: Encodable {
            let message_id: String
        }
    }
}

extension LinqRequest.Body: JSONWritable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("to", to)
            $0.field("message", message)
        }
    }
}

extension LinqRequest.Body.Content: JSONWritable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("parts", parts)
            $0.field("idempotency_key", idempotency_key)
            $0.field("reply_to", reply_to)
            $0.field("effect", effect)
        }
    }
}

extension LinqRequest.Body.Part: JSONWritable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("type", type)
            $0.field("value", value)
            $0.field("url", url)
        }
    }
}

extension LinqRequest.Body.ReplyTo: JSONWritable {
    func write(to json: inout JSONOutput) { json.object { $0.field("message_id", message_id) } }
}
