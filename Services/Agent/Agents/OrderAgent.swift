import Foundation
import Shared

/// Takes an order by text, and shows what it comes to as it grows.
///
/// The kitchen reports with the custom event "order": `{"status": "ready"}`; "left_kitchen" says the same, without more.
struct OrderAgent: TextAgent {
    typealias Attributes = OrderAttributes

    struct Model: Codable, Sendable, Equatable {
        var items: [OrderAttributes.Item] = []
        var status = OrderAttributes.Status.open

        var count: Int { items.reduce(0) { $0 + $1.quantity } }
        var total: Int { items.reduce(0) { $0 + $1.quantity * $1.price } }
    }

    static let merchant = "North Kitchen"
    /// In cents.
    static let menu = [
        ("Margherita", 1250), ("Marinara", 1100), ("Funghi", 1350), ("Tiramisu", 650), ("Lemonade", 400),
        ("Water", 250), ("Espresso", 300),
    ]
    static let mostOfOne = 20
    /// The card has room for so many lines.
    static let shownItems = 4

    let startsCardByEvent = true

    var initialModel: Model { Model() }

    func answer(_ text: String, _ model: inout Model, at now: Date) -> String? {
        let words = text.plainWords
        let asked = Self.items(in: words)
        if words.contains("cancel") { return cancel(&model) }
        if words.contains("menu") {
            return "We have " + Self.menu.map { "\($0) (\(Self.money($1)))" }.joined(separator: ", ") + "."
        }
        if !asked.isEmpty {
            let takesAway = !Set(words).isDisjoint(with: ["remove", "without", "no", "drop"])
            return takesAway ? remove(asked, &model) : add(asked, &model)
        }
        let phrase = words.joined(separator: " ")
        if ["place", "checkout", "check out", "that's all", "that is all", "order it"].contains(where: phrase.contains)
        {
            return place(&model)
        }
        return status(model)
    }

    func take(_ event: CustomEvent, _ model: inout Model, at now: Date) -> Bool {
        struct Report: Decodable { let status: OrderAttributes.Status }
        let reported =
            event.name == "left_kitchen" ? .ready : event.payload("order", as: Report.self)?.status ?? .unknown
        guard reported != .unknown, !model.items.isEmpty else { return false }
        model.status = reported
        return true
    }

    func state(of model: Model, at now: Date) -> OrderAttributes.ContentState? {
        OrderAttributes.ContentState(
            merchant: Self.merchant, items: model.items.suffix(Self.shownItems), itemCount: model.count,
            total: model.total, currency: "USD", status: model.status)
    }

    func milestone(from shown: State?, to state: State) -> DesiredIsland.Alert? {
        guard state.status == .ready, shown?.status != .ready else { return nil }
        return DesiredIsland.Alert(title: "Your order is ready", body: "\(Self.merchant), \(Self.money(state.total))")
    }

    private func add(_ asked: [OrderAttributes.Item], _ model: inout Model) -> String {
        switch model.status {
        case .placed, .preparing: return "Your order is already on its way to the oven."
        case .ready, .cancelled, .unknown: model = Model()
        case .open: break
        }
        for item in asked {
            if let index = model.items.firstIndex(where: { $0.name == item.name }) {
                let quantity = min(model.items[index].quantity + item.quantity, Self.mostOfOne)
                model.items[index].quantity = quantity
            } else {
                model.items.append(item)
            }
        }
        return "Added \(Self.list(asked)). That makes \(Self.money(model.total))."
    }

    private func remove(_ asked: [OrderAttributes.Item], _ model: inout Model) -> String {
        guard model.status == .open else { return "The order is not open any more." }
        let names = Set(asked.map(\.name))
        guard model.items.contains(where: { names.contains($0.name) }) else { return "That is not in your order." }
        model.items.removeAll { names.contains($0.name) }
        return "Removed \(names.sorted().joined(separator: " and ")). That makes \(Self.money(model.total))."
    }

    private func place(_ model: inout Model) -> String {
        guard !model.items.isEmpty else {
            return "There is nothing in your order yet. Text \"menu\" to see what we have."
        }
        guard model.status == .open else { return status(model) }
        model.status = .placed
        return "Placed: \(Self.list(model.items)) for \(Self.money(model.total))."
    }

    private func cancel(_ model: inout Model) -> String {
        guard !model.items.isEmpty, [.open, .placed].contains(model.status) else {
            return "There is nothing that could still be cancelled."
        }
        model.status = .cancelled
        return "Cancelled."
    }

    private func status(_ model: Model) -> String {
        switch model.status {
        case .open where model.items.isEmpty: "Hungry? Text \"menu\", or what you would like."
        case .open: "So far: \(Self.list(model.items)), \(Self.money(model.total)). Text \"place it\" when that is all."
        case .placed, .unknown: "Your order is placed: \(Self.money(model.total))."
        case .preparing: "Your order is being made."
        case .ready: "Your order is ready."
        case .cancelled: "Your order is cancelled. Text what you would like for a new one."
        }
    }

    // MARK: - Words

    private static let quantities = [
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    ]

    /// "2 margheritas and a lemonade".
    static func items(in words: [String]) -> [OrderAttributes.Item] {
        var items: [OrderAttributes.Item] = []
        var quantity = 1
        for word in words {
            if let number = Int(word) ?? quantities[word] {
                quantity = min(max(number, 1), mostOfOne)
            } else if let (name, price) = menu.first(where: {
                [$0.0.lowercased(), $0.0.lowercased() + "s"].contains(word)
            }) {
                items.append(OrderAttributes.Item(name: name, quantity: quantity, price: price))
                quantity = 1
            }
        }
        return items
    }

    private static func list(_ items: [OrderAttributes.Item]) -> String {
        items.map { "\($0.quantity) × \($0.name)" }.joined(separator: ", ")
    }

    private static func money(_ cents: Int) -> String {
        let rest = cents % 100
        return "$\(cents / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
