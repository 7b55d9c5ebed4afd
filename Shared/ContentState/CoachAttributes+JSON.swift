extension CoachAttributes: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("userID", userID)
            $0.field("sessionID", sessionID)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(userID: try json.value("userID"), sessionID: try json.optional("sessionID"))
    }
}

extension CoachAttributes.ContentState: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("calories", calories)
            $0.field("goal", goal)
            $0.field("streak", streak)
            $0.field("lastMeal", lastMeal)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            calories: try json.value("calories"), goal: try json.value("goal"), streak: try json.value("streak"),
            lastMeal: try json.value("lastMeal"))
    }
}
