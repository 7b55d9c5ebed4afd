import Foundation

/// How the coach says things: short, warm, and not twice the same in a row.
struct CoachReplies {
    /// Counts replies; which of several wordings is used follows from it.
    let turn: Int

    private func pick(_ wordings: String...) -> String { wordings[Int(turn.magnitude % UInt(wordings.count))] }

    /// What stands before the first reply of a day.
    func opening(_ model: inout CoachModel) -> String {
        defer { model.yesterday = nil }
        guard let past = model.yesterday, let day = model.day, past.day == day - 1 else { return "" }
        let meals = past.meals == 1 ? "one meal" : "\(past.meals) meals"
        let verdict =
            past.calories <= past.goal
            ? pick("nicely within your goal", "and you kept to your goal")
            : "\((past.calories - past.goal).grouped) over, and that's behind you now"
        return "New day! Yesterday: \(past.calories.grouped) of \(past.goal.grouped) cal in \(meals), \(verdict).\n"
    }

    // MARK: - Meals

    func logged(_ meals: ArraySlice<CoachModel.Meal>, before: Int, _ model: CoachModel) -> String {
        let opener = pick("Got it", "Logged", "Noted", "On the list", "Nice")
        let isFirst = model.meals.count == meals.count
        let row = isFirst && model.streak > 1 ? " Day \(model.streak) in a row 🔥" : ""
        let hint = turn == 0 ? " (Your goal is \(model.goal.grouped); text \"goal 1800\" to change it.)" : ""
        return "\(opener): \(names(meals)). \(total(before: before, model))\(row)\(hint)"
    }

    func corrected(_ meals: ArraySlice<CoachModel.Meal>, _ model: CoachModel) -> String {
        let what = meals.isEmpty ? "that's off the list" : names(meals)
        return "\(pick("Fixed", "Changed", "Updated")): \(what). \(standing(model))"
    }

    private func names(_ meals: ArraySlice<CoachModel.Meal>) -> String {
        guard meals.count > 1, let last = meals.last else {
            return meals.first.map { "\($0.label), \($0.calories.grouped) cal" } ?? ""
        }
        let list = meals.dropLast().map { "\($0.label) (\($0.calories.grouped))" }.joined(separator: ", ")
        return "\(list) and \(last.label) (\(last.calories.grouped))"
    }

    private func total(before: Int, _ model: CoachModel) -> String {
        let isCrossing = before < model.goal && model.calories > model.goal
        guard isCrossing else { return standing(model) }
        return "That's \(model.calories.grouped) today, \((-model.left).grouped) past your goal. "
            + pick(
                "No drama, one day is one day.", "It happens, be kind to yourself.", "All good, tomorrow starts fresh.")
    }

    private func standing(_ model: CoachModel) -> String {
        let total = model.calories.grouped
        if model.meals.isEmpty { return "Nothing on today's list, all \(model.goal.grouped) cal still yours." }
        if model.left == 0 { return "That's \(total), exactly your goal. Spot on!" }
        if model.left < 0 {
            let over = (-model.left).grouped
            return pick(
                "You're at \(total), \(over) over today. Tomorrow is a new page.",
                "That makes \(total), \(over) over your goal. You're keeping track, that's what counts.")
        }
        let left = model.left.grouped
        if model.left * 10 <= model.goal { return "You're at \(total), just \(left) left. Nearly there!" }
        return pick(
            "That's \(total) today, \(left) to go.", "\(total) so far, \(left) left.",
            "You're at \(total) with \(left) left for today.")
    }

    func ask(_ label: String) -> String {
        guard !label.isEmpty else { return "How many calories is that, roughly? A number like \"450\" is plenty." }
        return pick(
            "\(label), sounds good! About how many calories?", "Tasty! Roughly how many calories for: \(label)?",
            "\(label): any idea how many calories? A guess is fine.")
    }

    func photo() -> String {
        pick("Looks good! About how many calories was it?", "Great picture! Roughly how many calories?")
    }

    func full() -> String { "That's more meals than I can keep for one day. Text \"undo\" or \"reset\" to make room." }

    func implausible(_ calories: Double) -> String {
        if calories <= 0 {
            return "I only count upwards. Text \"undo\" to take the last one back, or \"actually 450\" to fix it."
        }
        return "That's a lot for one meal! Did you mean something else? Give me a number up to 10,000."
    }

    // MARK: - Taking back, and the goal

    func undone(_ step: (change: CoachModel.Change, undone: [CoachModel.Meal])?, _ model: CoachModel) -> String {
        guard let step else { return nothingToUndo() }
        if step.change.goal != nil { return "Your goal is back to \(model.goal.grouped). \(standing(model))" }
        if step.undone.isEmpty { return "Back on the list: \(names(step.change.removed[...])). \(standing(model))" }
        if !step.change.removed.isEmpty {
            return "As it was: \(names(step.change.removed[...])). \(standing(model))"
        }
        return "\(pick("Took back", "Undone")): \(names(step.undone[...])). \(standing(model))"
    }

    func removed(_ meal: CoachModel.Meal, _ model: CoachModel) -> String {
        "\(pick("Took off", "Removed")): \(names([meal])). \(standing(model))"
    }

    func notFound(_ name: String) -> String { "I don't see \(name) on today's list. \"what did I eat\" shows it." }

    func nothingToUndo() -> String { "There's nothing to take back today." }
    func cleared() -> String { "Clean slate: today's list is empty. (\"undo\" brings it back.)" }

    func goalSet(_ model: CoachModel) -> String {
        "\(pick("Deal", "Done")): \(model.goal.grouped) cal a day. \(standing(model))"
    }

    func implausibleGoal() -> String { "A daily goal between 500 and 10,000 cal works for me. What shall it be?" }

    func timeZone(_ name: String) -> String {
        let place = name.split(separator: "/").last.map { $0.replacingOccurrences(of: "_", with: " ") } ?? name
        return "Got it, your days run on \(place) time now."
    }

    // MARK: - Everything else

    /// The answer to what changes nothing.
    func saying(_ intent: CoachIntent, _ model: CoachModel) -> String {
        switch intent {
        case .tellGoal: "Your goal is \(model.goal.grouped) cal a day. \(standing(model))"
        case .status: status(model)
        case .list: list(model)
        case .help: Self.help
        case .greeting: greeting(model)
        case .thanks: pick("Anytime!", "You've got this.", "Always.", "👊")
        case .unknownTimeZone:
            "I don't know that place. Try a name like \"timezone Europe/Berlin\" or a big city near you."
        case .skipped: pick("Okay, nothing logged. Don't forget to eat something good later!", "Noted, nothing to add.")
        case .yesterday: "Yesterday's page is closed, I only keep today's. \(standing(model))"
        case .exercise:
            pick("Love the movement!", "Strong work!") + " I only count what you eat, so your list stays as it is."
        case .consider(let calories): consider(calories, model)
        case .nothing: "Zero calories, nothing to add. \(standing(model))"
        case .emoji: pick("👊 I'm here when you eat something.", "😄 Tell me about your next meal!")
        default:
            pick(
                "I'm best with meals and numbers: try \"chicken bowl 600\".",
                "Tell me what you ate with a rough number, like \"toast 90\", and I'll keep count.")
        }
    }

    static let help = """
        Text me what you eat with a rough number: "chicken bowl 600" or "eggs 140 and toast 90".
        "actually 500" fixes the last one, "undo" takes it back, "what did I eat" lists today.
        "goal 2100" sets your goal, "how am I doing?" tells where you stand, "I'm in Tokyo" sets your clock.
        """

    private func greeting(_ model: CoachModel) -> String {
        if turn == 0 {
            return
                "Hi! I'm your coach. Text me what you eat with a rough number, like \"chicken bowl 600\", and I'll "
                + "keep count. Your goal is \(model.goal.grouped) cal a day; \"help\" shows what else I can do."
        }
        return "\(pick("Hey!", "Hi there!", "Hello!")) \(standing(model))"
    }

    private func status(_ model: CoachModel) -> String {
        let row = model.streak > 1 ? " You're on a \(model.streak)-day streak 🔥" : ""
        return standing(model) + row
    }

    private func list(_ model: CoachModel) -> String {
        guard !model.meals.isEmpty else { return standing(model) }
        let shown = model.meals.suffix(20)
        let earlier = model.meals.count > shown.count ? "(\(model.meals.count - shown.count) earlier)\n" : ""
        return "Today:\n" + earlier + shown.map { "• \($0.label), \($0.calories.grouped)" }.joined(separator: "\n")
            + "\n" + standing(model)
    }

    private func consider(_ calories: Double?, _ model: CoachModel) -> String {
        guard let calories, CoachIntent.plausibleMeal.contains(calories) else {
            return "I don't guess calories, the packet or a food app knows best. \(standing(model))"
        }
        let after = model.left - Int(calories)
        let verdict =
            after >= 0
            ? "it fits, and leaves you \(after.grouped)" : "it would take you \((-after).grouped) over your goal"
        return "At \(Int(calories).grouped) cal \(verdict). Text me once you've had it!"
    }
}

extension Int {
    /// "1,240".
    var grouped: String {
        var text = String(magnitude)
        var at = text.count - 3
        while at > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: at))
            at -= 3
        }
        return self < 0 ? "-\(text)" : text
    }
}
