/// A kind of Island with its Swift types behind it, for code that knows it by its name alone.
public struct IslandKind: Sendable {
    /// All there are.
    ///
    /// A kind of your own: one file like `CoachAttributes.swift`, and one line here.
    public static let all: [IslandKind] = [
        IslandKind(CoachAttributes.self),
        IslandKind(OrderAttributes.self),
        IslandKind(DeliveryAttributes.self),
        IslandKind(BalanceAttributes.self),
        IslandKind(ChecklistAttributes.self),
    ]

    /// The kind whose `attributes-type` is `attributesType`.
    public static func named(_ attributesType: String) throws(ContentStateError) -> IslandKind {
        guard let kind = all.first(where: { $0.attributesType == attributesType }) else {
            throw .unknownKind(attributesType)
        }
        return kind
    }

    /// The bare name of the attributes' Swift type, as it goes to the phone.
    public let attributesType: String
    /// The attributes' Swift type, for what goes through all kinds.
    package let type: any IslandAttributes.Type
    /// What a start says when the agent gave it no words.
    public let startAlert: DesiredIsland.Alert
    private let checkState: @Sendable ([UInt8]) throws(ContentStateError) -> [UInt8]
    private let checkStatic: @Sendable ([UInt8]) throws(ContentStateError) -> [UInt8]
    private let makeAttributes: @Sendable (String, String?) throws(ContentStateError) -> [UInt8]
    private let makeExample: @Sendable () throws(ContentStateError) -> [UInt8]
    private let makeShape: @Sendable () -> StateShape
    private let fieldNotes: [String: String]

    public init<Attributes: IslandAttributes>(_ type: Attributes.Type) {
        self.init(type, attributes: .codable, state: .codable)
    }

    /// A kind whose attributes and states write and read themselves.
    package init<Attributes: IslandAttributes & JSONCodable>(_ type: Attributes.Type)
    where Attributes.ContentState: JSONCodable {
        self.init(type, attributes: .direct, state: .direct)
    }

    private init<Attributes: IslandAttributes>(
        _ type: Attributes.Type, attributes: JSONCoding<Attributes>, state: JSONCoding<Attributes.ContentState>
    ) {
        attributesType = Attributes.attributesType
        self.type = type
        startAlert = Attributes.startAlert
        checkState = { json throws(ContentStateError) in
            try ContentStateCodec.encode(ContentStateCodec.decode(json, by: state.decode), state)
        }
        checkStatic = { json throws(ContentStateError) in
            try ContentStateCodec.encode(ContentStateCodec.decode(json, by: attributes.decode), attributes)
        }
        makeAttributes = { userID, sessionID throws(ContentStateError) in
            try ContentStateCodec.encode(Attributes(userID: userID, sessionID: sessionID), attributes)
        }
        makeExample = { () throws(ContentStateError) in try ContentStateCodec.encode(Attributes.example, state) }
        makeShape = { StateShape(of: Attributes.ContentState.self, like: Attributes.example) }
        fieldNotes = Attributes.fieldNotes
    }

    /// Reads a content state as a phone does and gives it back as the phone understands it; equal states come back as
    /// equal bytes.
    public func check(_ contentState: [UInt8]) throws(ContentStateError) -> [UInt8] { try checkState(contentState) }

    /// The same for the `attributes` of a start.
    public func checkAttributes(_ attributes: [UInt8]) throws(ContentStateError) -> [UInt8] {
        try checkStatic(attributes)
    }

    /// The `attributes` of a start.
    public func attributes(userID: String, sessionID: String?) throws(ContentStateError) -> [UInt8] {
        try makeAttributes(userID, sessionID)
    }

    /// The JSON of a state as it might be in the middle of a session.
    public func example() throws(ContentStateError) -> [UInt8] { try makeExample() }

    /// What a phone takes for a content state, field by field.
    package func shape() -> StateShape { makeShape() }

    /// The same as a JSON schema (draft 2020-12).
    public func schema() throws(ContentStateError) -> [UInt8] {
        try makeShape().schema(titled: "\(attributesType).ContentState", notes: fieldNotes, example: makeExample())
    }
}
