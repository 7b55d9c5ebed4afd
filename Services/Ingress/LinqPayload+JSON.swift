import Shared

extension LinqPayload: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        event_type = try json.optional("event_type")
        event_id = try json.optional("event_id")
        trace_id = try json.optional("trace_id")
        data = Self.isActedOn(event_type) ? try json.optional("data") : nil
    }
}

extension LinqPayload.EventData: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        id = try json.optional("id")
        direction = try json.optional("direction")
        chat = try json.optional("chat")
        sender_handle = try json.optional("sender_handle")
        parts = try json.optional("parts")
        part = try json.optional("part")
        reply_to = try json.optional("reply_to")
        sent_at = try json.optional("sent_at")
        chat_id = try json.optional("chat_id")
        is_group = try json.optional("is_group")
        is_from_me = try json.optional("is_from_me")
        from = try json.optional("from")
        from_handle = try json.optional("from_handle")
        message = try json.optional("message")
        message_id = try json.optional("message_id")
        reaction_type = try json.optional("reaction_type")
        custom_emoji = try json.optional("custom_emoji")
        received_at = try json.optional("received_at")
        service = try json.optional("service")
        reconciled_at = try json.optional("reconciled_at")
        zero_retention = try json.optional("zero_retention")
    }
}

extension LinqPayload.ChatObject: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        id = try json.optional("id")
        is_group = try json.optional("is_group")
    }
}

extension LinqPayload.HandleObject: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        handle = try json.optional("handle")
        is_me = try json.optional("is_me")
    }
}

extension LinqPayload.ReplyTo: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        message_id = try json.optional("message_id")
    }
}

extension LinqPayload.MessageObject: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        id = try json.optional("id")
        parts = try json.optional("parts")
        reply_to = try json.optional("reply_to")
        sent_at = try json.optional("sent_at")
    }
}

extension LinqPayload.EditedPart: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        index = try json.optional("index")
        text = try json.optional("text")
    }
}

extension LinqPayload.Part: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        type = try json.value("type")
        value = try json.lenient("value")
        url = try json.lenient("url")
        mime_type = try json.lenient("mime_type")
        filename = try json.lenient("filename")
        size_bytes = try json.optional("size_bytes")
        let mentions: [Mention] = try json.optional("mentions") ?? []
        mentionsLine = mentions.contains { $0.is_me == true }
    }
}

extension LinqPayload.Part.Mention: JSONReadable {
    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        is_me = try json.optional("is_me")
    }
}

extension JSONFields {
    /// A text, or `nil` for whatever else is there.
    fileprivate mutating func lenient(_ key: StaticString) throws(JSONUnusual) -> String? {
        guard let found = find(key), found.isText else { return nil }
        return try String(json: found)
    }
}
