#if canImport(ActivityKit) && !os(macOS)
    public import ActivityKit

    extension OrderAttributes: ActivityAttributes {}
#endif

/// An order's card: what is in it and what it comes to, while it is being put together and made.
public struct OrderAttributes: IslandAttributes {
    public struct ContentState: Codable, Hashable, Sendable {
        public var merchant: String
        /// The newest last; the agent keeps the list short, the card is small.
        public var items: [Item]
        /// All items of the order, also those that the list leaves out.
        public var itemCount: Int
        /// In the currency's smallest unit: 1250 is 12.50 USD.
        public var total: Int
        /// ISO 4217: "USD".
        public var currency: String
        public var status: Status

        public init(
            merchant: String, items: [Item], itemCount: Int, total: Int, currency: String, status: Status
        ) {
            self.merchant = merchant
            self.items = items
            self.itemCount = itemCount
            self.total = total
            self.currency = currency
            self.status = status
        }
    }

    public struct Item: Codable, Hashable, Sendable {
        public var name: String
        public var quantity: Int
        /// For one, in the currency's smallest unit.
        public var price: Int

        public init(name: String, quantity: Int, price: Int) {
            self.name = name
            self.quantity = quantity
            self.price = price
        }
    }

    public enum Status: String, OpenCase {
        case open, placed, preparing, ready, cancelled, unknown
        public static let fallback = Status.unknown
    }

    public var userID: String
    public var sessionID: String?

    public init(userID: String, sessionID: String? = nil) {
        self.userID = userID
        self.sessionID = sessionID
    }

    public static let example = ContentState(
        merchant: "North Kitchen",
        items: [Item(name: "Margherita", quantity: 2, price: 1250), Item(name: "Lemonade", quantity: 1, price: 400)],
        itemCount: 3, total: 2900, currency: "USD", status: .open)
    public static let startAlert = DesiredIsland.Alert(title: "Your order", body: "It is on screen now.")
    public static let fieldNotes = [
        "items": "the newest last, at most 4: the card is small",
        "items.price": "for one, in the currency's smallest unit: 1250 is 12.50 USD",
        "itemCount": "all items, also those that the list leaves out",
        "total": "in the currency's smallest unit: 1250 is 12.50 USD",
        "currency": "ISO 4217, such as USD",
    ]
}
