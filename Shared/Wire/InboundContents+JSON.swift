// What InboundContents.swift declares, written and read field by field, in the order of the declarations.

extension Chat: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("id", id)
            $0.field("isGroup", isGroup)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(id: try json.value("id"), isGroup: try json.value("isGroup"))
    }
}

extension MessageService: JSONCodable {}

extension MessagePart: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("type", type)
            $0.field("value", value)
            $0.field("url", url)
            $0.field("mimeType", mimeType)
            $0.field("filename", filename)
            $0.field("size", size)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            type: try json.value("type"), value: try json.optional("value"), url: try json.optional("url"),
            mimeType: try json.optional("mimeType"), filename: try json.optional("filename"),
            size: try json.optional("size"))
    }
}

extension InboundMessage: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("messageID", messageID)
            $0.field("chat", chat)
            $0.field("sender", sender)
            $0.field("service", service)
            $0.field("parts", parts)
            $0.field("mentionsLine", mentionsLine)
            $0.field("replyTo", replyTo)
            $0.field("isReconciled", isReconciled)
            $0.field("sentAt", sentAt)
            $0.field("receivedAt", receivedAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            messageID: try json.value("messageID"), chat: try json.value("chat"), sender: try json.value("sender"),
            service: try json.value("service"), parts: try json.value("parts"),
            mentionsLine: try json.value("mentionsLine"), replyTo: try json.optional("replyTo"),
            isReconciled: try json.value("isReconciled"), sentAt: try json.optional("sentAt"),
            receivedAt: try json.value("receivedAt"))
    }
}

extension InboundReaction: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("chat", chat)
            $0.field("sender", sender)
            $0.field("service", service)
            $0.field("messageID", messageID)
            $0.field("reaction", reaction)
            $0.field("emoji", emoji)
            $0.field("isAdded", isAdded)
            $0.field("receivedAt", receivedAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            chat: try json.value("chat"), sender: try json.value("sender"), service: try json.optional("service"),
            messageID: try json.value("messageID"), reaction: try json.value("reaction"),
            emoji: try json.optional("emoji"), isAdded: try json.value("isAdded"),
            receivedAt: try json.value("receivedAt"))
    }
}

extension InboundEdit: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("messageID", messageID)
            $0.field("chat", chat)
            $0.field("sender", sender)
            $0.field("partIndex", partIndex)
            $0.field("text", text)
            $0.field("receivedAt", receivedAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            messageID: try json.value("messageID"), chat: try json.value("chat"), sender: try json.value("sender"),
            partIndex: try json.value("partIndex"), text: try json.value("text"),
            receivedAt: try json.value("receivedAt"))
    }
}

extension CustomEvent: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("name", name)
            $0.field("payload", payload)
            $0.field("receivedAt", receivedAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            name: try json.value("name"), payload: try json.value("payload"), receivedAt: try json.value("receivedAt"))
    }
}

extension SessionDue: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("sessionID", sessionID)
            $0.field("dueAt", dueAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(sessionID: try json.value("sessionID"), dueAt: try json.value("dueAt"))
    }
}

extension IslandReachable: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("deviceID", deviceID)
            $0.field("attributesType", attributesType)
            $0.field("sessionID", sessionID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.value("userID"), deviceID: try json.value("deviceID"),
            attributesType: try json.value("attributesType"), sessionID: try json.optional("sessionID"))
    }
}

extension IdentityChanged: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("canonicalHandle", canonicalHandle)
            $0.field("isErased", isErased)
            $0.field("erasedUserID", erasedUserID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            userID: try json.optional("userID"), canonicalHandle: try json.value("canonicalHandle"),
            isErased: try json.optional("isErased"), erasedUserID: try json.optional("erasedUserID"))
    }
}

extension StateMoved: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("from", from)
            $0.field("state", state)
            $0.field("userID", userID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(from: try json.value("from"), state: try json.value("state"), userID: try json.optional("userID"))
    }
}

extension LaneDue: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("dueAt", dueAt)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(dueAt: try json.value("dueAt"))
    }
}
