package import Shared

extension CoachModel: JSONCodable {
    package func write(to json: inout JSONOutput) {
        json.object {
            $0.field("timeZone", timeZone)
            $0.field("day", day)
            $0.field("meals", meals)
            $0.field("goal", goal)
            $0.field("pastStreak", pastStreak)
            $0.field("streakDay", streakDay)
            $0.field("yesterday", yesterday)
            $0.field("changes", changes)
            $0.field("question", question)
            $0.field("nextID", nextID)
            $0.field("turns", turns)
        }
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init()
        timeZone = try json.optional("timeZone")
        day = try json.optional("day")
        meals = try json.value("meals")
        goal = try json.value("goal")
        pastStreak = try json.value("pastStreak")
        streakDay = try json.optional("streakDay")
        yesterday = try json.optional("yesterday")
        changes = try json.value("changes")
        question = try json.optional("question")
        nextID = try json.value("nextID")
        turns = try json.value("turns")
    }
}

extension CoachModel.Meal: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("id", id)
            $0.field("label", label)
            $0.field("calories", calories)
            $0.field("messageID", messageID)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            id: try json.value("id"), label: try json.value("label"), calories: try json.value("calories"),
            messageID: try json.optional("messageID"))
    }
}

extension CoachModel.Change: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("added", added)
            $0.field("removed", removed)
            $0.field("position", position)
            $0.field("goal", goal)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            added: try json.value("added"), removed: try json.value("removed"), position: try json.value("position"),
            goal: try json.optional("goal"))
    }
}

extension CoachModel.PastDay: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("day", day)
            $0.field("calories", calories)
            $0.field("goal", goal)
            $0.field("meals", meals)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(
            day: try json.value("day"), calories: try json.value("calories"), goal: try json.value("goal"),
            meals: try json.value("meals"))
    }
}

extension CoachModel.Question: JSONCodable {
    func write(to json: inout JSONOutput) {
        json.object {
            $0.field("label", label)
            $0.field("messageID", messageID)
        }
    }

    init(json: JSONInput) throws(JSONUnusual) {
        var json = try json.object()
        self.init(label: try json.value("label"), messageID: try json.optional("messageID"))
    }
}
