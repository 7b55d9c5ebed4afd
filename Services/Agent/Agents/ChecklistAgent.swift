import Foundation
import Shared

/// Keeps one list, and ticks it off.
///
/// A backend ticks off with the custom event "checklist": `{"done": "Book the van"}`, or adds with `{"add": "…"}`.
struct ChecklistAgent: TextAgent {
    typealias Attributes = ChecklistAttributes

    struct Item: Codable, Sendable, Equatable {
        var text: String
        var isDone = false
    }

    struct Model: Codable, Sendable, Equatable {
        /// `nil` before the first list.
        var title: String?
        var items: [Item] = []
        /// The places of what is done, in the order in which it was.
        var ticked: [Int] = []

        var next: Item? { items.first { !$0.isDone } }
        var lastDone: Item? { ticked.last.map { items[$0] } }
    }

    static let mostItems = 50
    static let longestText = 60

    var initialModel: Model { Model() }

    func answer(_ text: String, _ model: inout Model, at now: Date) -> String? {
        if let (title, items) = Self.list(in: text) {
            model = Model(title: title, items: items)
            return "\(title): \(items.count) to do. First: \(items[0].text)."
        }
        let words = text.plainWords
        if words.first == "add" { return add(String(text.trimmed.dropFirst(3)), &model) }
        if words.contains("undo") { return undo(&model) }
        let ticks: Set = ["done", "did", "finished", "check", "tick", "off"]
        if !ticks.isDisjoint(with: words) {
            return tick(
                words.filter { !ticks.contains($0) && !["the", "i", "i've", "is", "with"].contains($0) }, &model)
        }
        return status(model)
    }

    func take(_ event: CustomEvent, _ model: inout Model, at now: Date) -> Bool {
        struct Change: Decodable {
            let done: String?
            let add: String?
        }
        guard let change = event.payload("checklist", as: Change.self) else { return false }
        let before = model
        if let item = change.add { _ = add(item, &model) }
        if let item = change.done { _ = tick(item.plainWords, &model) }
        return model != before
    }

    func state(of model: Model, at now: Date) -> ChecklistAttributes.ContentState? {
        guard let title = model.title else { return nil }
        return ChecklistAttributes.ContentState(
            title: title, done: model.ticked.count, total: model.items.count, next: model.next?.text,
            lastDone: model.lastDone?.text)
    }

    func milestone(from shown: State?, to state: State) -> DesiredIsland.Alert? {
        guard let shown, state.total > 0, state.done == state.total, shown.done < shown.total else { return nil }
        return DesiredIsland.Alert(title: "All done", body: "\(state.title): \(state.total) of \(state.total)")
    }

    private func add(_ text: String, _ model: inout Model) -> String {
        let items = Self.items(in: text)
        guard !items.isEmpty else { return "Add what?" }
        guard model.items.count + items.count <= Self.mostItems else { return "The list is full." }
        model.title = model.title ?? "My list"
        model.items += items
        return "Added \(items.map(\.text).joined(separator: ", ")). \(left(model))"
    }

    /// Ticks off what the words name or number, or what comes next if they name nothing.
    private func tick(_ words: [String], _ model: inout Model) -> String {
        guard model.next != nil else { return status(model) }
        let open = model.items.indices.filter { !model.items[$0].isDone }
        let named = open.first { Set(words).isSubset(of: model.items[$0].text.plainWords) }
        let numbered = words.count == 1 ? Int(words[0]).map { $0 - 1 } : nil
        guard let index = numbered.flatMap({ open.contains($0) ? $0 : nil }) ?? named else {
            return "That is not on the list, or done already. " + left(model)
        }
        model.items[index].isDone = true
        model.ticked.append(index)
        return "Done: \(model.items[index].text). \(left(model))"
    }

    private func undo(_ model: inout Model) -> String {
        guard let last = model.ticked.popLast() else { return "There is nothing to undo." }
        model.items[last].isDone = false
        return "Back on the list: \(model.items[last].text). \(left(model))"
    }

    private func status(_ model: Model) -> String {
        guard let title = model.title else {
            return "Text me a list, such as \"Moving day: pack the books, book the van\"."
        }
        let lines = model.items.enumerated().map { "\($1.isDone ? "✓" : "○") \($0 + 1). \($1.text)" }
        return "\(title): \(left(model))\n" + lines.joined(separator: "\n")
    }

    private func left(_ model: Model) -> String {
        guard let next = model.next else { return "All done!" }
        return "\(model.items.count - model.ticked.count) to go, next: \(next.text)."
    }

    // MARK: - Words

    /// "Moving day: pack the books, book the van"; a list begins with its title.
    static func list(in text: String) -> (title: String, items: [Item])? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        var title = text[..<colon].trimmingCharacters(in: .whitespacesAndNewlines)
        for opening in ["new list", "checklist", "list"] where title.lowercased().hasPrefix(opening) {
            title = title.dropFirst(opening.count).trimmingCharacters(in: .whitespacesAndNewlines)
            break
        }
        let items = items(in: String(text[text.index(after: colon)...]))
        guard !items.isEmpty else { return nil }
        return (title.isEmpty ? "My list" : String(title.prefix(longestText)).capitalizedOnce, items)
    }

    private static func items(in text: String) -> [Item] {
        text.split { ",;\n".contains($0) }.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .prefix(mostItems).map { Item(text: String($0.prefix(longestText)).capitalizedOnce) }
    }
}
