package import Foundation
package import Shared

/// The coach of the example: counts a day's calories in the thread and shows them in the Island.
///
/// `CoachIntent` understands a text, `CoachModel` keeps what follows from it, and `CoachReplies` words the answer.
package struct CoachAgent: IslandAgent {
    package typealias Model = CoachModel
    package typealias Attributes = CoachAttributes
    package typealias Response = AgentResponse<CoachAttributes.ContentState>

    /// Where users are who have not said so.
    private let defaultTimeZone: TimeZone

    package init(defaultTimeZone: TimeZone = .gmt) { self.defaultTimeZone = defaultTimeZone }

    package var initialModel: CoachModel { CoachModel() }

    package func respond(
        to event: AgentEvent, model: inout CoachModel, context: AgentContext
    ) async throws -> Response {
        let shown = model.contentState
        model.begin(day(of: context.now, model, context))
        switch event {
        case .message(let message):
            guard isForCoach(message, model, context) else { return AgentResponse() }
            let answer = reply(to: message, &model)
            return response(message.isReconciled ? nil : answer, model, shown, context)
        case .edit(let edit):
            guard let answer = reply(to: edit, &model) else { return AgentResponse() }
            return response(answer, model, shown, context)
        case .custom(let event):
            guard let meal = PostedMeal(event), model.hasRoom(for: 1) else { return AgentResponse() }
            model.append([MealReading.Meal(label: meal.label ?? "Meal", calories: meal.calories)], messageID: nil)
            // A sync may come at any hour: it moves a card that is up, and lights none.
            return context.session.isNew ? AgentResponse() : response(nil, model, shown, context)
        case .reaction:
            return AgentResponse()
        case .sessionEnding:
            return AgentResponse(island: .end(model.contentState))
        }
    }

    private func day(of moment: Date, _ model: CoachModel, _ context: AgentContext) -> Int {
        let zone = model.timeZone.flatMap(TimeZone.init(identifier:)) ?? context.user.timeZone ?? defaultTimeZone
        return CoachModel.day(of: moment, in: zone)
    }

    /// In a group only what mentions the coach is; and what Linq recovered late belongs to its own day.
    private func isForCoach(_ message: InboundMessage, _ model: CoachModel, _ context: AgentContext) -> Bool {
        if message.chat.isGroup, !message.mentionsLine { return false }
        guard message.isReconciled, let sentAt = message.sentAt else { return true }
        return day(of: sentAt.date, model, context) == model.day
    }

    /// The Island is told its state with every text, so that it does not go stale while they talk.
    private func response(
        _ text: String?, _ model: CoachModel, _ shown: CoachAttributes.ContentState, _ context: AgentContext
    ) -> Response {
        let state = model.contentState
        let reachedGoal = shown.calories < state.goal && state.calories >= state.goal && shown.goal == state.goal
        let alert = DesiredIsland.Alert(
            title: "Goal reached", body: "\(state.calories.grouped) of \(state.goal.grouped) cal today")
        let isNews = state != shown || context.session.isNew
        return AgentResponse(
            replies: text.map { [AgentReply($0)] } ?? [],
            island: .show(
                state, alert: reachedGoal ? alert : nil, priority: isNews && text != nil ? .now : .whenConvenient))
    }

    // MARK: - Texts

    private func reply(to message: InboundMessage, _ model: inout CoachModel) -> String? {
        let question = model.question
        let intent = CoachIntent(
            text: message.text, hasMedia: message.parts.contains { $0.type == "media" },
            isAwaitingNumber: question != nil)
        guard intent != .optOut else { return nil }
        let replies = CoachReplies(turn: model.turns)
        let answer = carryOut(intent, message.messageID, &model, replies)
        let opening = replies.opening(&model)
        model.turns &+= 1
        return opening + answer
    }

    private func carryOut(
        _ intent: CoachIntent, _ messageID: String, _ model: inout CoachModel, _ replies: CoachReplies
    ) -> String {
        let question = model.question
        model.question = nil
        switch intent {
        case .log(let meals): return log(meals, messageID, question, &model, replies)
        case .correct(let calories, let label): return correct(calories, label, messageID, &model, replies)
        case .scale(let part): return scale(part, &model, replies)
        case .setGoal(let goal): return setGoal(goal, &model, replies)
        case .undo: return replies.undone(model.undo(), model)
        case .remove(let name): return remove(name, &model, replies)
        case .clear: return clear(&model, replies)
        case .setTimeZone(let name):
            model.timeZone = name
            return replies.timeZone(name)
        case .askCalories(let label):
            model.question = CoachModel.Question(label: label, messageID: messageID)
            return replies.ask(label)
        case .photo:
            model.question = CoachModel.Question(label: "", messageID: messageID)
            return replies.photo()
        case .implausible(let calories):
            model.question = question
            return replies.implausible(calories)
        default: return replies.saying(intent, model)
        }
    }

    private func log(
        _ meals: [MealReading.Meal], _ messageID: String, _ question: CoachModel.Question?, _ model: inout CoachModel,
        _ replies: CoachReplies
    ) -> String {
        var meals = meals
        if let question, meals.count == 1, meals[0].label.isEmpty { meals[0].label = question.label }
        guard model.hasRoom(for: meals.count) else { return replies.full() }
        let before = model.calories
        model.append(meals, messageID: messageID)
        return replies.logged(model.meals.suffix(meals.count), before: before, model)
    }

    private func correct(
        _ calories: Double, _ label: String, _ messageID: String, _ model: inout CoachModel, _ replies: CoachReplies
    ) -> String {
        guard let last = model.meals.last else {
            return log([MealReading.Meal(label: label, calories: calories)], messageID, nil, &model, replies)
        }
        let meal = MealReading.Meal(label: label.isEmpty ? last.label : label, calories: calories)
        model.replace(
            model.meals.count - 1..<model.meals.count, with: [meal], messageID: last.messageID)
        return replies.corrected(model.meals.suffix(1), model)
    }

    private func scale(_ part: Double, _ model: inout CoachModel, _ replies: CoachReplies) -> String {
        guard let last = model.meals.last else { return replies.saying(.other, model) }
        let calories = max(1, (Double(last.calories) * part).rounded())
        model.replace(
            model.meals.count - 1..<model.meals.count,
            with: [MealReading.Meal(label: last.label, calories: calories)], messageID: last.messageID)
        return replies.corrected(model.meals.suffix(1), model)
    }

    private func setGoal(_ goal: Double, _ model: inout CoachModel, _ replies: CoachReplies) -> String {
        guard CoachIntent.plausibleGoal.contains(goal) else { return replies.implausibleGoal() }
        model.setGoal(Int(goal.rounded()))
        return replies.goalSet(model)
    }

    private func remove(_ name: String, _ model: inout CoachModel, _ replies: CoachReplies) -> String {
        guard let at = model.meals.lastIndex(where: { $0.label.lowercased().contains(name) }) else {
            return replies.notFound(name)
        }
        let meal = model.meals[at]
        model.replace(at..<at + 1, with: [], messageID: nil)
        return replies.removed(meal, model)
    }

    private func clear(_ model: inout CoachModel, _ replies: CoachReplies) -> String {
        guard !model.meals.isEmpty else { return replies.nothingToUndo() }
        model.replace(0..<model.meals.count, with: [], messageID: nil)
        return replies.cleared()
    }

    // MARK: - Edits

    /// A message that told of meals of today, or that the coach has asked about, tells of others now.
    private func reply(to edit: InboundEdit, _ model: inout CoachModel) -> String? {
        let isAsked = model.question?.messageID == edit.messageID
        let first = model.meals.firstIndex { $0.messageID == edit.messageID }
        guard first != nil || isAsked else { return nil }
        let last = model.meals.lastIndex { $0.messageID == edit.messageID }
        let range = (first ?? model.meals.count)..<(last.map { $0 + 1 } ?? model.meals.count)
        var meals: [MealReading.Meal] = []
        switch CoachIntent(text: edit.text) {
        case .log(let read): meals = read
        case .correct(let calories, let label): meals = [MealReading.Meal(label: label, calories: calories)]
        default: break
        }
        let old = model.meals[range].map { MealReading.Meal(label: $0.label, calories: Double($0.calories)) }
        guard meals != old, model.hasRoom(for: meals.count - range.count) else { return nil }
        if isAsked { model.question = nil }
        model.replace(range, with: meals, messageID: edit.messageID)
        let replies = CoachReplies(turn: model.turns)
        model.turns &+= 1
        return replies.corrected(model.meals[range.lowerBound..<range.lowerBound + meals.count], model)
    }
}

/// The custom event "meal" of the team's own backend, as from a food diary: `{"calories": 320, "label": "Soup"}`.
private struct PostedMeal: Decodable {
    let calories: Double
    let label: String?

    init?(_ event: CustomEvent) {
        // Whatever else a backend posts is none of the coach's business.
        guard event.name == "meal", let meal = try? JSONDecoder().decode(Self.self, from: Data(event.payload.utf8)),
            CoachIntent.plausibleMeal.contains(meal.calories)
        else { return nil }
        calories = meal.calories.rounded()
        label = meal.label.map { String($0.prefix(MealReading.longestLabel)) }
    }
}
