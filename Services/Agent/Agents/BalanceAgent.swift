import Foundation
import Shared

/// Keeps a balance of points, and how far they are from what the user saves up for.
///
/// A till books with the custom event "transaction": `{"amount": -300, "label": "Mug"}`; with `"unit": "USD"` the
/// amounts are cents.
struct BalanceAgent: TextAgent {
    typealias Attributes = BalanceAttributes

    struct Entry: Codable, Sendable, Equatable {
        var amount: Int
        var label: String
    }

    struct Model: Codable, Sendable, Equatable {
        var balance = 0
        var unit = "points"
        /// The newest last.
        var entries: [Entry] = []
        var target: Int?
    }

    static let mostEntries = 10
    static let largestAmount = 1_000_000
    static let longestLabel = 40

    var initialModel: Model { Model() }

    func answer(_ text: String, _ model: inout Model, at now: Date) -> String? {
        let words = Set(text.plainWords)
        if words.contains("undo") { return undo(&model) }
        guard let number = text.firstNumber, number > 0 else { return status(model) }
        guard number <= Self.largestAmount else { return "That is more than I can book." }
        if !words.isDisjoint(with: ["target", "goal", "save", "saving"]) {
            model.target = number
            return "Your target is \(amount(number, model)). " + status(model)
        }
        if !words.isDisjoint(with: ["spend", "spent", "redeem", "redeemed", "use", "used", "paid", "bought"]) {
            guard number <= model.balance else { return "You only have \(amount(model.balance, model))." }
            return book(Entry(amount: -number, label: Self.label(in: text, or: "Spent")), &model)
        }
        if text.contains("+") || !words.isDisjoint(with: ["earn", "earned", "add", "got", "collect", "collected"]) {
            return book(Entry(amount: number, label: Self.label(in: text, or: "Earned")), &model)
        }
        return "Text \"earned \(number)\" or \"spent \(number)\" and what it was for."
    }

    func take(_ event: CustomEvent, _ model: inout Model, at now: Date) -> Bool {
        struct Transaction: Decodable {
            let amount: Int
            let label: String?
            let unit: String?
        }
        guard let transaction = event.payload("transaction", as: Transaction.self),
            (-Self.largestAmount...Self.largestAmount).contains(transaction.amount)
        else { return false }
        if let unit = transaction.unit { model.unit = String(unit.prefix(Self.longestLabel)) }
        let label = transaction.label.map { String($0.prefix(Self.longestLabel)) }
        _ = book(Entry(amount: transaction.amount, label: label ?? "Booking"), &model)
        return true
    }

    func state(of model: Model, at now: Date) -> BalanceAttributes.ContentState? {
        BalanceAttributes.ContentState(
            balance: model.balance, unit: model.unit, lastChange: model.entries.last?.amount ?? 0,
            lastEntry: model.entries.last?.label ?? "No entries yet", target: model.target)
    }

    func milestone(from shown: State?, to state: State) -> DesiredIsland.Alert? {
        guard let target = state.target, let shown, shown.balance < target, state.balance >= target else { return nil }
        return DesiredIsland.Alert(title: "Target reached", body: "\(amount(state.balance, state.unit)) saved up")
    }

    private func book(_ entry: Entry, _ model: inout Model) -> String {
        model.balance += entry.amount
        model.entries.append(entry)
        if model.entries.count > Self.mostEntries { model.entries.removeFirst() }
        return "\(entry.label): \(entry.amount > 0 ? "+" : "−")\(amount(abs(entry.amount), model)). " + status(model)
    }

    private func undo(_ model: inout Model) -> String {
        guard let last = model.entries.popLast() else { return "There is nothing to undo." }
        model.balance -= last.amount
        return "Took \"\(last.label)\" back. " + status(model)
    }

    private func status(_ model: Model) -> String {
        let has = "You have \(amount(model.balance, model))"
        guard let target = model.target else { return has + "." }
        return model.balance >= target
            ? has + ": target reached!" : has + ", \(amount(target - model.balance, model)) to go."
    }

    private func amount(_ number: Int, _ model: Model) -> String { amount(number, model.unit) }

    /// "1,840 points", "12.50 USD".
    private func amount(_ number: Int, _ unit: String) -> String {
        guard unit != "points" else { return "\(number.formatted(.number.locale(Locale(identifier: "en_US")))) points" }
        let cents = abs(number) % 100
        return "\(number < 0 ? "−" : "")\(abs(number) / 100).\(cents < 10 ? "0" : "")\(cents) \(unit)"
    }

    /// What stands behind the number: "earned 120 points for two coffees" is "Two coffees".
    static func label(in text: String, or usual: String) -> String {
        guard let match = text.firstMatch(of: /[0-9][0-9,]*\s*(?:points|point|pts)?\s*(?:for|on|at|with|from)?\s+(.+)/)
        else { return usual }
        let words = match.output.1.split { $0.isWhitespace || ".!?".contains($0) }.joined(separator: " ")
        return words.isEmpty ? usual : String(words.prefix(longestLabel)).capitalizedOnce
    }
}
