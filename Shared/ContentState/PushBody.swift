/// The whole body of a Live Activity push, with the state's bytes in it as they are.
///
/// The keys are those of Apple's "Starting and updating Live Activities with ActivityKit push notifications", always in
/// the same order. Times are UNIX seconds.
public enum PushBody {
    /// What APNs takes, in bytes ("Sending notification requests to APNs").
    public static let limit = 4096

    /// Starts a card; the alert must have a title and a body.
    ///
    /// - Parameter asksForUpdateToken: sends `input-push-token`, which iOS 18 answers with an update token.
    public static func start(
        timestamp: Int64, contentState: [UInt8], attributesType: String, attributes: [UInt8],
        alert: DesiredIsland.Alert, staleDate: Int64?, relevanceScore: Double? = nil, asksForUpdateToken: Bool = false
    ) throws(ContentStateError) -> [UInt8] {
        guard alert.title.contains(where: { !$0.isWhitespace }), alert.body.contains(where: { !$0.isWhitespace })
        else { throw .emptyAlert }
        var body = Body(timestamp: timestamp, event: "start")
        try body.add("content-state", object: contentState)
        body.add("attributes-type", attributesType)
        try body.add("attributes", object: attributes)
        body.add(alert)
        try body.add(staleDate: staleDate, relevanceScore: relevanceScore)
        if asksForUpdateToken { body.add("input-push-token", 1) }
        return try body.finish()
    }

    /// Gives a running card a new state.
    public static func update(
        timestamp: Int64, contentState: [UInt8], staleDate: Int64?, alert: DesiredIsland.Alert? = nil,
        relevanceScore: Double? = nil
    ) throws(ContentStateError) -> [UInt8] {
        var body = Body(timestamp: timestamp, event: "update")
        try body.add("content-state", object: contentState)
        if let alert { body.add(alert) }
        try body.add(staleDate: staleDate, relevanceScore: relevanceScore)
        return try body.finish()
    }

    /// Ends a card; without a state the last one stays until it is dismissed.
    public static func end(
        timestamp: Int64, contentState: [UInt8]?, dismissalDate: Int64?
    ) throws(ContentStateError) -> [UInt8] {
        var body = Body(timestamp: timestamp, event: "end")
        if let contentState { try body.add("content-state", object: contentState) }
        if let dismissalDate { body.add("dismissal-date", dismissalDate) }
        return try body.finish()
    }
}

/// A body as it grows.
///
/// It knows its large fields, so that it can name them if it grows too large.
private struct Body: ~Copyable {
    private var json = JSONOutput()
    private var sizes: [ContentStateError.FieldSize] = []

    init(timestamp: Int64, event: String) {
        json.append(#"{"aps":{"#)
        json.field("timestamp", timestamp)
        json.field("event", event)
    }

    mutating func add(_ key: StaticString, _ value: Int64) { json.field(key, value) }

    mutating func add(_ key: StaticString, _ value: String) { json.field(key, value) }

    mutating func add(_ key: StaticString, object: [UInt8]) throws(ContentStateError) {
        guard let fields = JSONText.fields(of: object) else {
            throw object.first == UInt8(ascii: "{") ? .notJSON : .notAnObject(found: "something else")
        }
        sizes += fields.map { ContentStateError.FieldSize(path: "\(key).\($0.name)", bytes: $0.bytes) }
        json.beginField(key)
        json.append(object)
        json.endField()
    }

    mutating func add(_ alert: DesiredIsland.Alert) {
        json.beginField("alert")
        let start = json.beginObject()
        addMeasured("title", alert.title)
        addMeasured("body", alert.body)
        if let sound = alert.sound { addMeasured("sound", sound) }
        json.endObject(start)
        json.endField()
    }

    private mutating func addMeasured(_ key: StaticString, _ string: String) {
        json.beginField(key)
        let before = json.size
        json.write(string)
        sizes.append(ContentStateError.FieldSize(path: "alert.\(key)", bytes: json.size - before))
        json.endField()
    }

    mutating func add(staleDate: Int64?, relevanceScore: Double?) throws(ContentStateError) {
        if let staleDate { add("stale-date", staleDate) }
        guard let relevanceScore else { return }
        guard relevanceScore.isFinite else {
            throw .unencodable(path: "relevance-score", reason: "\(relevanceScore) is no JSON number")
        }
        json.beginField("relevance-score")
        json.append(Array("\(relevanceScore)".utf8))
        json.endField()
    }

    /// Closes the body, if it is small enough.
    mutating func finish() throws(ContentStateError) -> [UInt8] {
        json.append("}}")
        guard json.size <= PushBody.limit else {
            let largest = sizes.sorted { ($1.bytes, $0.path) < ($0.bytes, $1.path) }.prefix(5)
            throw .tooLarge(bytes: json.size, limit: PushBody.limit, largest: Array(largest))
        }
        return json.bytes
    }
}
